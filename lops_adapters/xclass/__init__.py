"""X-Class with LOPS: class vectors from class names alone, documents aligned to them, a selector, a
classifier.
"""
