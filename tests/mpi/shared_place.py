"""Where tests put shared files."""

import numpy as np

PLACES = ("one", "striped")
# The unit has no meaning for one file.
UNITS = [("one", 100), ("striped", 100), ("striped", 4096), ("striped", 1 << 20)]


def select_folder(place, disk, shared):
    """One file lies where all ranks see it, components on each host's own disk."""
    return shared if place == "one" else disk


def content(seed, count):
    """Bytes that are the same whoever makes them."""
    return np.random.default_rng(seed).integers(0, 256, count, "u1")
