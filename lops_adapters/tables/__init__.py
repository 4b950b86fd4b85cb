"""Tables on disk: read in blocks, judged block by block, written."""
