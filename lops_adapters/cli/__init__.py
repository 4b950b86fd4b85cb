"""The command ``lops``."""
