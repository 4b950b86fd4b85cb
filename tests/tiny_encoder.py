"""A tiny frozen encoder for the tests of several rooms."""

import pytest

from .probes.toys import save_tiny_encoder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """Folder of a tiny random encoder that knows only the toy words of the probes' tests."""
    return str(save_tiny_encoder("bert", tmp_path_factory.mktemp("bert")))
