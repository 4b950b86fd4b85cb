"""The committee: members that score labels held out, and what their scores mean."""
