"""X-Class with LOPS: class names alone, aligned documents, a selector, a fine-tuned encoder."""
