"""Limits of this process that tests lower temporarily."""

import resource
from contextlib import contextmanager


@contextmanager
def no_file_beyond(size):
    """Make writes after this many bytes of a file fail."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
