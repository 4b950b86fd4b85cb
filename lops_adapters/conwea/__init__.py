"""ConWea with LOPS: contextualised seed words, counted for pseudo-labels, a selector, a HAN."""
