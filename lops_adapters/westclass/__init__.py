"""WeSTClass with LOPS: topics on the unit sphere, pseudo documents drawn from them, a selector, a
classifier, self-training.
"""
