"""LOTClass with LOPS: ``python -m lops_adapters.lotclass``."""
