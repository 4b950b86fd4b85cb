from ..probes.conftest import small_models, tiny

__all__ = ["small_models", "tiny"]
