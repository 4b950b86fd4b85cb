"""WeSTClass with LOPS: topics, pseudo documents, a selector, a classifier, self-training."""
