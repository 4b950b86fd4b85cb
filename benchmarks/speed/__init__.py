"""Speed of selection, and the cost of watching."""
