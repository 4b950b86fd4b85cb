from ..probes.conftest import one_thread, tiny

__all__ = ["one_thread", "tiny"]
