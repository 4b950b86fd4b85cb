import pytest

from .toys import save_tiny_encoder


@pytest.fixture(scope="session", autouse=True)
def small_models(one_thread):
    """All tests here run on one thread."""


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """Folder of a tiny random encoder: tiny("bert") -> path; one of bert, roberta, xlnet, gpt2."""
    made = {}

    def folder(kind):
        if kind not in made:
            made[kind] = save_tiny_encoder(kind, tmp_path_factory.mktemp(kind))
        return str(made[kind])

    return folder
