"""What all tests share."""

import gc
import os

import pytest
from hypothesis import settings

# Several workers share the cores: threads that wait for one another there take most of the time of the tests on torch.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Many tests start the command in a process of its own, and each would compile the whole package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What is collected stays: to look through all of it again and again for garbage took a third of the collection.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from here on, and not among what was collected."""
    gc.freeze()
    gc.enable()


# A machine with other load takes as long as it takes: no example may fail by the clock on the wall.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Keep the tests of a file together, as they share fixtures, and let who is done take from others."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getvalue("dist") == "load" else None
