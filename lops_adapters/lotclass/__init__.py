"""LOTClass with LOPS: class vocabularies, pseudo-labelled rows, a selector, self-training."""
