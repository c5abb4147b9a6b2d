"""Parameters of tests of shared files (plait.shared): the folders and the contents of the files.

With striped=False a shared file is one file on a file system that all ranks share; with striped=True its stripes are
in component files on the disks of the hosts.
"""

import numpy as np

STRIPED = (False, True)
# The stripe unit has no effect on striped=False.
UNITS = [(False, 100), (True, 100), (True, 4096), (True, 1 << 20)]


def select_folder(striped, disk, shared):
    """Returns a folder that all ranks share, for striped=False, or one on each host's own disk, for components."""
    return disk if striped else shared


def content(seed, count):
    """Returns random bytes that depend only on the arguments, so that every rank can compute them."""
    return np.random.default_rng(seed).integers(0, 256, count, "u1")
