"""Confidences: what watches a training and ends with a score per sample."""
