"""A limit on the size of files, which makes writes of this process fail as on a full disk."""

import resource
from contextlib import contextmanager


@contextmanager
def limit_file_size(size):
    """Make writes beyond the first `size` bytes of a file fail with EFBIG, within a `with` block."""
    old_limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old_limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old_limits)
