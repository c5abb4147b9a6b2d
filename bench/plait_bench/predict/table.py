"""The results of `plait bench predict` as a table."""

from __future__ import annotations

import statistics

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.predict.driver import GOAL, PredictResults
from plait_bench.text import count_text, machine_line, three_digits, titled_table, version_line


def predict_table(results: PredictResults) -> RenderableType:
    """Return the results as header, table, notes and a verdict: how many predictions hold."""
    settings, machine = results.settings, results.machine
    table = titled_table("Running times of programs in seconds, predicted and measured")
    table.add_column("Program")
    table.add_column("Disk")
    for title in ("Measured", "Replayed", "Predicted", "Error"):
        table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "Error" else "")
    previous_program = ""
    for run in results.runs:
        medians = [three_digits(statistics.median(times)) for times in (run.measured, run.replayed, run.predicted)]
        error = Text(f"{100 * run.error:+.1f} %", style="green" if run.holds else "red")
        disk = f"{run.limits}{' (calibrated)' if run.known else ''}"
        table.add_row("" if run.program == previous_program else run.program, disk, *medians, error)
        previous_program = run.program
    others = [run for run in results.runs if not run.known]
    correct = sum(run.holds for run in others)
    header = f"{machine_line(machine)}\ndisk on {machine['file system']}; {version_line(machine)}\n"
    notes = (
        "A disk's limits are bytes and requests a second, for reads and for writes; "
        f"{count_text(settings['rounds'], 'round')}. Replayed: with the times of requests that were measured in "
        f"the same run. Predicted: from the trace and the calibration on {settings['known']} alone."
    )
    verdict = f"{correct} of {len(others)} predictions for other disks are within {100 * GOAL:.0f} %"
    return Group(
        Text(header),
        table,
        Text(notes, style="dim"),
        Text(verdict, style="green" if correct == len(others) else "bold red"),
    )
