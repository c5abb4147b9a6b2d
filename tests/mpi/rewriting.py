"""Random arrays, regions and options, for tests that read an array, write a region of it, and read it again."""

from brute_force import make_distinct_array, random_region, random_shape
from nodes import MIN_STAGED_ELEMENTS


def random_rewrite(random, *types):
    """Returns (array, region, new content of the region, array after the region is written), of a random type."""
    shape = random_shape(random)
    global_array = make_distinct_array(shape, str(random.choice(types)))
    region = random_region(random, shape)
    new_content = global_array[region].copy()
    new_content[...] = new_content.ravel()[::-1].reshape(new_content.shape)
    expected = global_array.copy()
    expected[region] = new_content
    return global_array, region, new_content, expected


def random_options(random, ranks, itemsize):
    """Returns random options of a file: strategy, memory in bytes, and readers."""
    return {
        "strategy": str(random.choice(["automatic", "direct", "two-phase"])),
        "memory": int(random.choice([0, MIN_STAGED_ELEMENTS + 1, 9])) * itemsize,
        "readers": int(random.integers(0, ranks + 1)),
    }
