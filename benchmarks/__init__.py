"""Measurements: each script writes one JSON file under ``benchmarks/results``."""
