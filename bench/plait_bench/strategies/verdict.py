"""The verdict whether a choice is as good as the best strategy, as far as noise permits one.

All ways are measured in each round, so that other activity of the machine affects all of them.  Two errors are avoided:
the minimum of several noisy medians is too small, so the best way is selected in one half of the rounds and compared in
the other half; and medians of different rounds are not compared, but ratios inside a round.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Literal

NEAR = 0.10
"""A choice within this part of the best time is as good as the best."""
CERTAIN = 0.95
"""Minimum probability that the true median is between the bounds of an interval."""

Verdict = Literal["near", "open", "far"]


def find_best(samples: Mapping[str, Sequence[float]], rounds: slice = slice(None)) -> str:
    """Return the way with the smallest median in these rounds."""
    return min(samples, key=lambda way: statistics.median(samples[way][rounds]))


def _ratios(chosen: Sequence[float], other: Sequence[float]) -> list[float]:
    return [mine / theirs for mine, theirs in zip(chosen, other, strict=True)]


def relative_loss(chosen: Sequence[float], samples: Mapping[str, Sequence[float]]) -> float:
    """Return the additional time of the chosen way relative to the best one; at least 0.

    Each half of the rounds determines the best way of the other half; a single round is compared with itself.
    """
    halves = [slice(0, None, 2), slice(1, None, 2)] if len(chosen) > 1 else [slice(None)] * 2
    losses = []
    for named, compared in (halves, halves[::-1]):
        best = samples[find_best(samples, named)]
        losses.append(statistics.median(_ratios(chosen[compared], best[compared])) - 1)
    return max(0.0, sum(losses) / len(losses))


def median_interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return bounds of the true median for any distribution, with the probability CERTAIN if there are at least 6
    ratios.

    As many of the sorted ratios are left out on each side as the sign test permits.
    """
    ordered, count = sorted(ratios), len(ratios)
    out, probability = 0, 0.5**count
    chance = probability
    while out + 1 < (count + 1) // 2:
        probability *= (count - out) / (out + 1)
        if 2 * (chance + probability) > 1 - CERTAIN:
            break
        chance += probability
        out += 1
    return ordered[out], ordered[-1 - out]


def judge_choice(chosen: Sequence[float], samples: Mapping[str, Sequence[float]]) -> Verdict:
    """Return whether the choice is certainly as good as each way, certainly not as good as one, or neither."""
    intervals = [median_interval(_ratios(chosen, times)) for times in samples.values()]
    if any(lower > 1 + NEAR for lower, _ in intervals):
        return "far"
    return "near" if all(upper <= 1 + NEAR for _, upper in intervals) else "open"


def repeats(samples: Mapping[str, Sequence[float]]) -> float:
    """Return in how many of both halves of the rounds the best way of the other half is as good as the best: 0 to 1.

    No choice can be expected to be near more often than the best way is near itself.
    """
    rounds = len(next(iter(samples.values())))
    if rounds < 2:
        return 1.0
    halves = slice(0, None, 2), slice(1, None, 2)
    near = 0
    for named, compared in (halves, halves[::-1]):
        medians = {way: statistics.median(times[compared]) for way, times in samples.items()}
        near += medians[find_best(samples, named)] <= (1 + NEAR) * min(medians.values())
    return near / 2
