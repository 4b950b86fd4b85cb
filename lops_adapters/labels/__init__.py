"""What people, rules and models say, read once: columns, soft labels, votes, groups, checks."""
