"""Self-training with LOPS: the paper's Algorithm 2, with any selection method."""
