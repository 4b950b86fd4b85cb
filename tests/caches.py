"""What tests with a frozen encoder share: a cache of their own, and a tiny encoder."""

import os
from unittest import mock

import pytest

from .probes.toys import save_tiny_encoder


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Vectors are kept in a folder of the tests, not the user's."""
    folder = tmp_path_factory.mktemp("cache")
    with mock.patch.dict(os.environ, XDG_CACHE_HOME=str(folder)):
        yield folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """Folder of a tiny random encoder that knows only the toy words of the probes' tests."""
    return str(save_tiny_encoder("bert", tmp_path_factory.mktemp("bert")))
