"""The results of `plait bench predict` as a table."""

from __future__ import annotations

import statistics

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.predict.driver import GOAL, PredictResults
from plait_bench.text import counted, machine_line, three_digits, titled_table, version_line


def predict_table(results: PredictResults) -> RenderableType:
    """Return everything for people: header, table, and how many predictions hold."""
    settings, machine = results.settings, results.machine
    table = titled_table("Seconds that programs take, predicted and measured")
    table.add_column("Program")
    table.add_column("Disk")
    for title in ("Measured", "Replayed", "Predicted", "Error"):
        table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "Error" else "")
    program = ""
    for one in results.runs:
        middle = [three_digits(statistics.median(each)) for each in (one.measured, one.replayed, one.predicted)]
        error = Text(f"{100 * one.error:+.1f} %", style="green" if one.holds else "red")
        disk = f"{one.limits}{' (calibrated)' if one.known else ''}"
        table.add_row("" if one.program == program else one.program, disk, *middle, error)
        program = one.program
    others = [one for one in results.runs if not one.known]
    held = sum(one.holds for one in others)
    header = f"{machine_line(machine)}\ndisk on {machine['file system']}; {version_line(machine)}\n"
    notes = (
        f"Bytes and requests a second of reads and of writes each; {counted(settings['rounds'], 'round')}. Replayed: "
        "with the times of requests that were measured in the same run. Predicted: from the trace and the calibration "
        f"on {settings['known']} alone."
    )
    verdict = f"{held} of {len(others)} predictions for other disks are within {100 * GOAL:.0f} %"
    return Group(
        Text(header),
        table,
        Text(notes, style="dim"),
        Text(verdict, style="green" if held == len(others) else "bold red"),
    )
