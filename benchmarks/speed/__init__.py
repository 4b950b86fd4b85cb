"""How fast selection is, and what watching costs."""
