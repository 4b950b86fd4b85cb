import os
from pathlib import Path

import pytest

from .toys import save_tiny_encoder


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Tiny models on one thread: more threads only wait for each other."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """Folder of a tiny random encoder: tiny("bert") -> path; one of bert, roberta, xlnet, gpt2."""
    made = {}

    def folder(kind):
        if kind not in made:
            made[kind] = save_tiny_encoder(kind, tmp_path_factory.mktemp(kind))
        return str(made[kind])

    return folder


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data, or a skip that says why."""
    folder = os.environ.get("LOPS_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("LOPS_DATA names no folder with the real data sets")
    return Path(folder)
