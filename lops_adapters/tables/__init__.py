"""Tables on disk: read in blocks, scored block by block, written."""
