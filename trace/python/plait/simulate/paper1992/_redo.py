"""Redoes the simulations of the paper in one call: fits one number, checks the claims, draws the pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from plait.simulate._result import Result, Sweep
from plait.simulate.paper1992._claims import Claim, make_claims
from plait.simulate.paper1992._runs import PAIR, SIZES, Runs, fit

_REPLAYS = 60  # approximate number, for a progress bar


@dataclass(frozen=True)
class Paper:
    """The results.

    position   the fitted number: positioning time of the disk in seconds, for a request that does not continue the
               previous one
    """

    position: float
    claims: list[Claim]
    results: dict[str, Result] = field(repr=False)
    sizes: Sweep = field(repr=False)

    def to_json(self) -> str:
        """Return the fitted number and the claims as JSON."""
        return json.dumps({"position": self.position, "claims": [asdict(claim) for claim in self.claims]})

    def draw(self, folder: Path, ending: str = "png") -> list[Path]:
        """Write the paper's figures 6, 7 and 8 into a folder, which is created if missing; return their names.

        ending   png or svg

        errors  plait.Error if matplotlib is not installed
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
    predicted = [claim for claim in paper.claims if not claim.fitted]
    yield f"fitted: {1e3 * paper.position:.2f} ms before the bytes of a request that does not follow the last one"
    yield f"predicted: {sum(claim.holds for claim in predicted)} of {len(predicted)} claims as in the paper"
    for claim in paper.claims:
        yield ""
        comparison = "fitted" if claim.fitted else "as in the paper" if claim.holds else "NOT as in the paper"
        yield f"{comparison}: {claim.name}"
        yield f"  paper      {claim.paper}"
        yield f"  predicted  {claim.predicted}"
        if claim.reason:
            yield f"  {'reason' if not claim.holds else 'note':<9}  {claim.reason}"


def redo(progress: Callable[[str, float], None] | None = None) -> Paper:
    """Redo the simulations of section 6; takes about a minute.

    progress   called with a description of the current work and the share done, 0 to 1
    """
    replays = 0

    def on_progress(text: str) -> None:
        nonlocal replays
        replays += 1
        if progress is not None:
            progress(text, min(replays / _REPLAYS, 1.0))

    runs = Runs(on_progress)
    position, fitted = fit(runs)
    runs.machine = runs.with_position(position)
    all_claims = list(make_claims(runs, fitted, position))
    points = [{"cache": f"{size} MB", "write": write} for write in ("through", "behind") for size in SIZES]
    results = [runs.get(PAIR, cache=size, write=write) for write in ("through", "behind") for size in SIZES]
    sizes = Sweep(["cache", "write"], points, results)
    return Paper(position, all_claims, {str(size): runs.get(PAIR, cache=size) for size in (32, 128)}, sizes)
