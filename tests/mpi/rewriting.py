"""What tests read, write in a region, and read again."""

from brute_force import numbered, random_region, random_shape
from nodes import FEWEST_STAGED


def random_rewrite(random, *types):
    """An array of one of the types, a region of it, what is to be written there, and the array with that."""
    shape = random_shape(random)
    whole = numbered(shape, str(random.choice(types)))
    region = random_region(random, shape)
    new = whole[region].copy()
    new[...] = new.ravel()[::-1].reshape(new.shape)
    expected = whole.copy()
    expected[region] = new
    return whole, region, new, expected


def random_options(random, ranks, itemsize):
    """Any way to carry out an access."""
    return {
        "strategy": str(random.choice(["automatic", "direct", "two-phase"])),
        "memory": int(random.choice([0, FEWEST_STAGED + 1, 9])) * itemsize,
        "readers": int(random.integers(0, ranks + 1)),
    }
