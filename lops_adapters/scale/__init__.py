"""Selection past one machine, on Ray."""
