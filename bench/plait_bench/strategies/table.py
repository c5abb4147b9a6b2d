"""The results of `plait bench strategies` as a table and as a chart."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from plait.draw.figure import new_figure, open_axis, save
from plait_bench.strategies.driver import CaseResult, StrategiesResults
from plait_bench.strategies.job import CHOSEN
from plait_bench.strategies.verdict import NEAR
from plait_bench.text import count_text, machine_line, milliseconds, notes, titled_table, version_line

_MARKS = {"near": "", "far": "", "open": " ?"}


def strategies_table(results: StrategiesResults) -> RenderableType:
    """Return the results as header, table and notes with the conclusions."""
    table = titled_table(f"The chosen strategy and the best one, milliseconds, median of {results.settings['rounds']} "
                         "rounds")  # fmt: skip
    table.collapse_padding = True  # so that the longest row fits into 100 columns
    for title in ("Access", "Layout"):
        table.add_column(title, no_wrap=True)
    for title in ("P", "Chosen", "", "Best", "", "Loss"):
        table.add_column(title, justify="right", no_wrap=True)
    for result in results.cases:
        table.add_row(*_row(result))
    return Group(_header(results), Text(), table, _make_notes(results))


def _header(results: StrategiesResults) -> Text:
    machine = results.machine
    return Text(f"{machine_line(machine)}\n{machine.get('MPI', 'MPI')}; {version_line(machine)}")


def _row(result: CaseResult) -> list[str | Text]:
    case = result.case
    return [
        f"{'cold ' * (case.cache == 'cold')}{case.operation} {'x'.join(map(str, case.shape))} {case.dtype}",
        f"{','.join(case.dist)} {case.order}",
        str(case.ranks),
        result.chosen,
        milliseconds(result.median(CHOSEN)),
        result.best,
        milliseconds(result.median(result.best)),
        Text(f"{100 * result.loss:.0f} %{_MARKS[result.verdict]}", style="" if result.loss <= NEAR else "bold red"),
    ]


def _make_notes(results: StrategiesResults) -> Text:
    lines = [
        "P: ranks.  Best: the strategy with the shortest time; all strategies are forced in the same rounds.",
        "Loss: additional time of the chosen strategy relative to the best one in the other half of the rounds, after "
        "Plait has tried the promising ones.  ?: the noise is too large to decide whether it is above 10 %.",
        f"Constants of the cost model: {results.machine.get('constants', 'built in')}.",
    ]
    if results.not_cold:
        lines.append(
            f"Left out: {count_text(results.not_cold, 'case')} from the disk, for the files here stay in the "
            "page cache."
        )
    if results.near_share is not None:
        losses = sorted(result.loss for result in results.cases)
        lines.append(
            f"Within {100 * NEAR:.0f} % of the best: {100 * results.near_share:.1f} % of "
            f"{count_text(len(losses), 'case')}; the largest loss is {100 * losses[-1]:.0f} %.  "
            f"By the model alone: {100 * (results.model_near_share or 0):.1f} %."
        )
        verdicts = results.verdicts()
        lines.append(
            f"Certainly within: {verdicts['near']}, certainly not: {verdicts['far']}, "
            f"undecidable: {verdicts['open']}.  "
            f"The best strategy of one half of the rounds is within it in the other half in "
            f"{100 * (results.reachable_share or 0):.1f} %."
        )
    return notes(
        lines,
        [f"{name}, {variant}" for name, variant in results.find_wrong_data()],
        "Every byte of the first round was checked.",
    )


def draw_strategies_chart(results: StrategiesResults, path: Path) -> None:
    """Write a chart as a PNG file: the losses of all cases, from the largest to the smallest.

    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(10.0, 5.0)
    axis = figure.subplots()
    losses = sorted((100 * result.loss for result in results.cases), reverse=True)
    axis.step(range(len(losses)), losses, where="mid", color="#0072b2", label="loss of the chosen strategy")
    axis.axhline(100 * NEAR, color="#999999", linestyle="--", label=f"{100 * NEAR:.0f} %")
    axis.set_yscale("symlog", linthresh=10)
    axis.set_ylim(bottom=0)
    axis.set_ylabel("% more than the best", fontsize=12)
    axis.set_xlabel("cases, sorted", fontsize=12)
    open_axis(axis, "y")
    axis.legend(frameon=False, fontsize=12)
    figure.supxlabel(_header(results).plain, fontsize=9, color="#444444")
    save(figure, path)
