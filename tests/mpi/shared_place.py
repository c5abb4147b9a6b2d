"""Parameters of tests of shared files (plait.shared): the folders and the contents of the files.

With place="one" a shared file is one file on a file system that all ranks share; with place="striped" its stripes are
in component files on the disks of the hosts.
"""

import numpy as np

PLACES = ("one", "striped")
# The stripe unit has no effect on place="one".
UNITS = [("one", 100), ("striped", 100), ("striped", 4096), ("striped", 1 << 20)]


def select_folder(place, disk, shared):
    """Returns a folder that all ranks share, for place="one", or one on each host's own disk, for components."""
    return shared if place == "one" else disk


def content(seed, count):
    """Returns random bytes that depend only on the arguments, so that every rank can compute them."""
    return np.random.default_rng(seed).integers(0, 256, count, "u1")
