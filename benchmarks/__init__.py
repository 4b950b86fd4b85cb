"""Measurements: each one writes a JSON file below ``benchmarks/results``."""
