"""The verdict whether a choice is as good as the best strategy, as far as the noise permits one.

A variant is a strategy with its number of readers.  All variants are measured in each round, so that other activity of
the machine affects all of them.  Two errors are avoided.  The minimum of several noisy medians is too small; therefore
one half of the rounds selects the best variant, and the other half compares the choice with it.  Activity differs
between rounds; therefore the times of a round are divided by each other before the median is taken.

Example: in 4 rounds the choice takes 1.0, 1.1, 2.0 and 1.0 s, and the best variant 1.0, 1.0, 2.0 and 1.0 s.  The ratios
are 1.0, 1.1, 1.0 and 1.0, although the third round was disturbed.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Literal

NEAR = 0.10
"""A choice counts as good if it takes at most this fraction of the best time longer."""
CERTAIN = 0.95
"""The probability that the true median is within an interval of median_interval()."""

Verdict = Literal["near", "open", "far"]


def find_best(samples: Mapping[str, Sequence[float]], rounds: slice = slice(None)) -> str:
    """Return the variant with the smallest median in these rounds."""
    return min(samples, key=lambda variant: statistics.median(samples[variant][rounds]))


def _ratios(chosen: Sequence[float], other: Sequence[float]) -> list[float]:
    return [numerator / denominator for numerator, denominator in zip(chosen, other, strict=True)]


def relative_loss(chosen: Sequence[float], samples: Mapping[str, Sequence[float]]) -> float:
    """Return the additional time of the chosen variant, as a fraction of the time of the best variant; at least 0.

    Each half of the rounds selects the best variant for the comparison in the other half; a single round is both
    halves.
    """
    halves = [slice(0, None, 2), slice(1, None, 2)] if len(chosen) > 1 else [slice(None)] * 2
    losses = []
    for selecting, comparing in (halves, halves[::-1]):
        best = samples[find_best(samples, selecting)]
        losses.append(statistics.median(_ratios(chosen[comparing], best[comparing])) - 1)
    return max(0.0, sum(losses) / len(losses))


def median_interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return a confidence interval of the true median, which is valid for any distribution of the ratios.

    It has the probability CERTAIN if there are at least 6 ratios; fewer ratios cannot reach it, and the interval then
    extends from the smallest to the largest one.

    By the sign test, each ratio is below the true median with the probability 1/2.  The number of ratios below it has a
    binomial distribution, and k ratios can be left out on each side as long as P(at most k below) is at most 2.5 %.
    With 8 ratios, P(0) = 0.4 % and P(0) + P(1) = 3.5 %, so that none can be left out.
    """
    ordered, count = sorted(ratios), len(ratios)
    left_out, probability = 0, 0.5**count  # the probability of exactly `left_out` ratios below the median
    tail = probability  # the probability of at most `left_out` ratios below the median
    while left_out + 1 < (count + 1) // 2:
        probability *= (count - left_out) / (left_out + 1)
        if 2 * (tail + probability) > 1 - CERTAIN:
            break
        tail += probability
        left_out += 1
    return ordered[left_out], ordered[-1 - left_out]


def judge_choice(chosen: Sequence[float], samples: Mapping[str, Sequence[float]]) -> Verdict:
    """Return ``near`` if the choice is certainly as good as each variant, ``far`` if some variant is certainly better.

    Otherwise the verdict is ``open``.
    """
    intervals = [median_interval(_ratios(chosen, times)) for times in samples.values()]
    if any(lower > 1 + NEAR for lower, _ in intervals):
        return "far"
    return "near" if all(upper <= 1 + NEAR for _, upper in intervals) else "open"


def reachable_share(samples: Mapping[str, Sequence[float]]) -> float:
    """Return the fraction of the two halves of the rounds, 0, 0.5 or 1, in which the other half's best variant is near.

    A variant is near if it takes at most NEAR longer than the best variant of the half.  No choice can be expected to
    be near more often than that.
    """
    rounds = len(next(iter(samples.values())))
    if rounds < 2:
        return 1.0
    halves = slice(0, None, 2), slice(1, None, 2)
    near = 0
    for selecting, comparing in (halves, halves[::-1]):
        medians = {variant: statistics.median(times[comparing]) for variant, times in samples.items()}
        near += medians[find_best(samples, selecting)] <= (1 + NEAR) * min(medians.values())
    return near / 2
