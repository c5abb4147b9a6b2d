"""Random permutations and numbers that are computed one by one, the same on every machine."""

from __future__ import annotations

_MASK = (1 << 64) - 1
_ROUNDS = 4


def mix(*numbers: int) -> int:
    """Return 64 well-mixed bits that depend on all the numbers (the finaliser of SplitMix64, chained)."""
    state = 0x9E3779B97F4A7C15
    for number in numbers:
        state = (state + 0x9E3779B97F4A7C15 + (number & _MASK)) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


def shuffled(position: int, size: int, *seed: int) -> int:
    """Return the number of 0, 1, ... size - 1 at `position` of a permutation that the seed selects.

    A Feistel network on the next even number of bits permutes a range of at most four times the size. A result outside
    of the size is permuted again until it is inside, which takes at most four times on average.
    """
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    low = (1 << half) - 1
    result = position
    while True:
        left, right = result >> half, result & low
        for round_number in range(_ROUNDS):
            left, right = right, left ^ (mix(*seed, size, round_number, right) & low)
        result = left << half | right
        if result < size:
            return result
