"""Random arrays, regions and options, for tests that read an array, write a region of it, and read it again."""

from brute_force import make_distinct_array, random_region, random_shape
from nodes import FEWEST_STAGED


def random_rewrite(random, *types):
    """Returns (array, region, new content of the region, array after the region is written), of a random type."""
    shape = random_shape(random)
    whole = make_distinct_array(shape, str(random.choice(types)))
    region = random_region(random, shape)
    new = whole[region].copy()
    new[...] = new.ravel()[::-1].reshape(new.shape)
    expected = whole.copy()
    expected[region] = new
    return whole, region, new, expected


def random_options(random, ranks, itemsize):
    """Returns random options of a file: strategy, memory in bytes, and readers."""
    return {
        "strategy": str(random.choice(["automatic", "direct", "two-phase"])),
        "memory": int(random.choice([0, FEWEST_STAGED + 1, 9])) * itemsize,
        "readers": int(random.integers(0, ranks + 1)),
    }
