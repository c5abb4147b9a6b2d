"""Redoes the paper in one call: the fit, the claims, the pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from plait.simulate._result import Result, Sweep
from plait.simulate.paper1992._claims import Claim, claims
from plait.simulate.paper1992._runs import PAIR, SIZES, Runs, fit

_REPLAYS = 60  # approximate number, for a progress bar


@dataclass(frozen=True)
class Paper:
    """The results.

    position   the fitted number: seconds of the disk before the bytes of a request that does not follow the last one
    """

    position: float
    claims: list[Claim]
    results: dict[str, Result] = field(repr=False)
    sizes: Sweep = field(repr=False)

    def to_json(self) -> str:
        """Return the fitted number and the claims as JSON."""
        return json.dumps({"position": self.position, "claims": [asdict(one) for one in self.claims]})

    def draw(self, folder: Path, ending: str = "png") -> list[Path]:
        """Write the paper's figures 6, 7 and 8 into a folder, which is made, as PNG or SVG; return their names.

        errors  plait.Error where matplotlib is not installed
        """
        from plait.simulate._charts import draw_rates, draw_sweep

        folder.mkdir(parents=True, exist_ok=True)
        names = [folder / f"figure{number}.{ending}" for number in (6, 7, 8)]
        draw_rates(self.results["32"].document, names[0], 200.0)
        draw_rates(self.results["128"].document, names[1], 200.0)
        draw_sweep(self.sizes.names, self.sizes.rows(), names[2])
        return names

    def __str__(self) -> str:
        """Return the claims, each with the statement of the paper and the prediction."""
        return "\n".join(_lines(self))


def _lines(paper: Paper) -> Iterator[str]:
    held = [one for one in paper.claims if not one.fitted]
    yield f"fitted: {1e3 * paper.position:.2f} ms before the bytes of a request that does not follow the last one"
    yield f"predicted: {sum(one.holds for one in held)} of {len(held)} claims as in the paper"
    for one in paper.claims:
        yield ""
        yield f"{'fitted' if one.fitted else 'as in the paper' if one.holds else 'NOT as in the paper'}: {one.name}"
        yield f"  paper      {one.paper}"
        yield f"  predicted  {one.predicted}"
        if one.reason:
            yield f"  {'reason' if not one.holds else 'note':<9}  {one.reason}"


def redo(progress: Callable[[str, float], None] | None = None) -> Paper:
    """Redo the simulations of section 6; takes about a minute.

    progress   called with a description of the current work and the share done, 0 to 1
    """
    made = 0

    def on_progress(text: str) -> None:
        nonlocal made
        made += 1
        if progress is not None:
            progress(text, min(made / _REPLAYS, 1.0))

    runs = Runs(on_progress)
    position, fitted = fit(runs)
    runs.machine = runs.with_position(position)
    found = list(claims(runs, fitted, position))
    points = [{"cache": f"{size} MB", "write": write} for write in ("through", "behind") for size in SIZES]
    results = [runs.get(PAIR, cache=size, write=write) for write in ("through", "behind") for size in SIZES]
    sizes = Sweep(["cache", "write"], points, results)
    return Paper(position, found, {str(size): runs.get(PAIR, cache=size) for size in (32, 128)}, sizes)
