"""LOPS without this package: stamped copies of the core, and patches for four repositories."""
