"""Votes of label sources, joined with the members of the committee."""
