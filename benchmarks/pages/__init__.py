"""Generated tables, made from result files alone; missing results are shown as ``-``."""
