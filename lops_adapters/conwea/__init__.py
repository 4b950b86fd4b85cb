"""ConWea with LOPS: contextualised seed words, pseudo-labels by counting, a HAN, and a selector
before each of its trainings.
"""
