"""The conversions that `plait bench plan` measures, in five groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import plait

Group = Literal["extent", "ranks", "pipe", "coprime", "features"]

TITLES: dict[Group, str] = {
    "extent": "The array grows: one rank's messages",
    "ranks": "The ranks grow: 10^12 elements",
    "pipe": "One rank's part of a pipe: 1,000,000 x 1,000,000 elements, 10,000 ranks to 10,000 ranks",
    "coprime": "Coprime blocks and grids: below and above the common period",
    "features": "Copies, halos, alignment, nested and irregular distributions",
}


@dataclass(frozen=True)
class Cyclic:
    """The distribution cyclic(block) on `ranks` ranks."""

    block: int
    ranks: int


@dataclass(frozen=True)
class PlanCase:
    """One conversion, planned by the middle rank of its source."""

    group: Group
    series: str
    at: int
    """The quantity that grows along a series: elements, or ranks in the groups "ranks" and "pipe"."""
    source: str
    target: str
    cyclic: tuple[Cyclic, Cyclic] | None = None
    """Both sides of a conversion between cyclic(k) on p and cyclic(m) on q, if the conversion is nothing else."""
    fill_halo: bool = False
    naive: bool = False
    """True to enumerate elements and blocks too, if there are few enough."""

    def conversion(self) -> plait.Conversion:
        """Return the conversion."""
        source, target = plait.Layout.parse(self.source), plait.Layout.parse(self.target)
        return plait.compose(source, target, fill_halo=self.fill_halo)


def pieces_of_period(cyclic: tuple[Cyclic, Cyclic], rank: int) -> tuple[int, int]:
    """Return the common period of two cyclic distributions, and the number of stretches of a rank's part in one period.

    A block of the rank is one stretch, plus one for each boundary between blocks of the target inside the block.
    Example: cyclic(3) on 8 ranks → cyclic(5) on 12. The period is lcm(24, 60) = 120. In it rank 0 has 5 blocks, 0 to 2,
    24 to 26, 48 to 50, 72 to 74 and 96 to 98, and boundaries at 25 and 50, so that its part has 7 stretches.
    """
    source, target = cyclic
    stride = source.block * source.ranks
    period = math.lcm(stride, target.block * target.ranks)
    # The boundaries are the multiples of target.block. Modulo the stride they are the multiples of the greatest common
    # divisor of both, each of which occurs equally often in a period.
    divisor = math.gcd(target.block, stride)
    boundaries_inside_block = sum(1 for phase in range(1, source.block) if (phase + rank * source.block) % divisor == 0)
    return period, period // stride + period // target.block * boundaries_inside_block // (stride // divisor)


def cases(quick: bool) -> list[PlanCase]:
    """Return all cases; `quick` leaves out those that take more than a second."""
    return [*_extent_cases(), *_rank_cases(quick), *_pipe_cases(), *_coprime_cases(quick), *_feature_cases()]


def _make_cyclic_case(
    group: Group, n: int, blocks: tuple[int, int], grids: tuple[int, int], naive: bool = False
) -> PlanCase:
    (k, m), (p, q) = blocks, grids
    return PlanCase(
        group,
        f"cyclic({k}) on {p} → cyclic({m}) on {q}",
        n,
        f"{n} (cyclic({k})) onto ({p})",
        f"{n} (cyclic({m})) onto ({q})",
        cyclic=(Cyclic(k, p), Cyclic(m, q)),
        naive=naive,
    )


def _extent_cases() -> list[PlanCase]:
    pairs = (((3, 5), (8, 12)), ((36, 128), (8, 12)))
    return [_make_cyclic_case("extent", 10**e, *pair, naive=True) for pair in pairs for e in range(3, 16)]


def _rank_cases(quick: bool) -> list[PlanCase]:
    n = 10**12
    planned = []
    grids = [10**e for e in range(1, 6 if quick else 7)]
    for p in grids:
        planned.append(
            PlanCase("ranks", "cyclic(64) → block", p, f"{n} (cyclic(64)) onto ({p})", f"{n} (block) onto ({p})")
        )
    for p in grids:
        texts = f"{n} (cyclic) onto ({p})", f"{n} (cyclic) onto ({p + 1})"
        planned.append(PlanCase("ranks", "cyclic on P → cyclic on P+1", p, *texts))
    roots = (3, 10, 32, 100, 316, *(() if quick else (1000,)))
    for root in roots:
        source = f"{n} (cyclic) onto ({root * root})"
        target = f"{n} (cyclic/cyclic) onto ({root}, {root})"
        planned.append(PlanCase("ranks", "cyclic on P → cyclic/cyclic on √P × √P", root * root, source, target))
    for root in (*roots[:5], 1000):
        source = f"1000000x1000000 (cyclic, cyclic) onto ({root}, {root})"
        target = f"1000000x1000000 (block, *) onto ({root * root})"
        planned.append(PlanCase("ranks", "√P × √P cyclic → rows by block", root * root, source, target))
    return planned


_LAYOUTS = {
    "row": "(block, *) onto (10000)",
    "column": "(*, block) onto (10000)",
    "block": "(block, block) onto (100, 100)",
    "cyclic(8)": "(cyclic(8), cyclic(8)) onto (100, 100)",
}


def _pipe_cases() -> list[PlanCase]:
    extents = "1000000x1000000"
    pairs = (("row", "row"), ("row", "block"), ("block", "block"), ("cyclic(8)", "block"), ("row", "column"))
    layouts = {name: f"{extents} {text}" for name, text in _LAYOUTS.items()}
    return [
        PlanCase("pipe", f"{source} to {target}", 10**4, layouts[source], layouts[target]) for source, target in pairs
    ]


def _coprime_cases(quick: bool) -> list[PlanCase]:
    planned = [_make_cyclic_case("coprime", 10**e, (97, 101), (11, 13), naive=e < 8) for e in (4, 5, 6, 7, 9, 12, 15)]
    planned += [_make_cyclic_case("coprime", 10**e, (1, 1), (9973, 10007), naive=e < 8) for e in (6, 7, 8, 9, 12, 15)]
    planned += [
        _make_cyclic_case("coprime", 10**e, (997, 1009), (991, 1013), naive=e < 13)
        for e in (7, 8, 9, 10, 11, 13, *(() if quick else (15,)))
    ]
    planned += [
        _make_cyclic_case("coprime", 10**e, (9973, 10007), (997, 1009), naive=e < 13)
        for e in (8, 9, 10, 11, *(() if quick else (12, 14, 15)))
    ]
    return planned


_FEATURES = (
    ("aligned with stride 3", "(cyclic(64)) onto (100) template={t} align=(3*d0+1)", "(cyclic(48)) onto (36)", False),
    ("offset, reverse", "(cyclic(36)) onto (8) source=(3) offset=(5) reverse=(0)", "(cyclic(128)) onto (12)", False),
    ("nested", "(block/cyclic(4)) onto (10, 8)", "(cyclic(5)) onto (12)", False),
    ("to nested", "(cyclic(5)) onto (12)", "(cyclic(12)/cyclic(4)) onto (10, 8)", False),
    ("two axes", "(cyclic(36)@(1, 0)) onto (2, 4)", "(cyclic(128)) onto (12)", False),
    ("indirect period", "(indirect(0*3, 1*2, 2, 0, 3*5, ...)) onto (4)", "(cyclic(5)) onto (12)", False),
    ("to indirect period", "(cyclic(5)) onto (12)", "(indirect(0*3, 1*2, 2, 0, 3*5, ...)) onto (4)", False),
    ("halo filled", "(cyclic(3)) onto (100)", "(block) onto (90) halo=(10) periodic=(0)", True),
    ("replicated", "(block) onto (10, 8) replicate=(1)", "(cyclic(5)) onto (12, 4) replicate=(1)", False),
    ("other ranks", "(cyclic(36)) onto (8) ranks=(100:108)", "(cyclic(128)) onto (4) ranks=(7, 900, 3, 104)", False),
)  # fmt: skip


def _feature_cases() -> list[PlanCase]:
    return [
        PlanCase("features", name, n, f"{n} {source.format(t=3 * n + 5)}", f"{n} {target}", fill_halo=fill)
        for name, source, target, fill in _FEATURES
        for n in (10**6, 10**9, 10**12, 10**15)
    ]
