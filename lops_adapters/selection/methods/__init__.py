"""The methods, one module each; the table is in ``selection/method_table.py``."""
