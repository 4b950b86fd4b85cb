"""LOPS where the package is not installed: copies of the core with a stamp, and patches for the
four original repositories.
"""
