import logging

import pytest


@pytest.fixture(autouse=True)
def log():
    """The package's logger as it is before a command sets it up, whatever ran earlier; and
    afterwards as it was.
    """
    logger = logging.getLogger("lops_adapters")
    before = logger.level, logger.handlers
    logger.setLevel(logging.NOTSET)
    logger.handlers = []
    yield
    logger.handlers = before[1]
    logger.setLevel(before[0])
