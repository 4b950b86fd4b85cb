"""Self-training with LOPS, the paper's Algorithm 2: pseudo-labels, a selector, a fresh classifier,
and what it is sure of, in rounds.
"""
