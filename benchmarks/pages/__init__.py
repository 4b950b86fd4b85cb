"""Generated tables, a module a page; each is made from result files alone, and a hole in these
stays a hole.
"""
