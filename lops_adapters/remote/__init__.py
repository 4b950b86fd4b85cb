"""Files of object stores and web servers; only this room knows where bytes are."""

from lops_adapters.remote.names import is_remote, located, matching, opened
from lops_adapters.remote.path import RemotePath
from lops_adapters.remote.publish import MANIFEST, complete, manifest, published

__all__ = [
    "MANIFEST",
    "RemotePath",
    "complete",
    "is_remote",
    "located",
    "manifest",
    "matching",
    "opened",
    "published",
]
