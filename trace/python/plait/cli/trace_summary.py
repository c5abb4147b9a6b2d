"""Prints the summary of the commands that write a trace."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from plait._base.amounts import shown
from plait.cli.support import messages, output
from plait.trace import Summary


def bytes_text(count: int) -> str:
    """Return a number of bytes with a suitable unit."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def print_summary(summary: Summary, target: str) -> None:
    """Print a summary, what is missing first; it goes to standard error if the trace goes to standard output."""
    console = messages() if target == "-" else output()
    if not summary.complete:
        console.print(Text("The trace is not complete."), style="bold yellow")
    for missed in summary.missed:
        lost = missed.read_bytes + missed.written_bytes
        amount = f", {bytes_text(lost)}" if lost else ""
        console.print(Text(f"not in the trace: {missed.events:,}{amount}: {shown(missed.reason)}"), soft_wrap=True)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    table.add_row("format", summary.format, "")
    table.add_row("processes", f"{summary.processes:,}", "")
    table.add_row("opens of files", f"{summary.files:,}", "")
    if summary.counted_reads or summary.counted_writes:
        table.add_row("reads counted", f"{summary.counted_reads:,}", bytes_text(summary.counted_read_bytes))
        table.add_row("writes counted", f"{summary.counted_writes:,}", bytes_text(summary.counted_written_bytes))
    table.add_row("events", f"{summary.events:,}", "")
    table.add_row("reads", f"{summary.reads:,}", bytes_text(summary.read_bytes))
    table.add_row("writes", f"{summary.writes:,}", bytes_text(summary.written_bytes))
    console.print(table)
    for note in summary.notes:
        console.print(Text(f"note: {shown(note)}"), soft_wrap=True)
    messages().print(
        Text(f"trace written to {'the standard output' if target == '-' else shown(target)}"), soft_wrap=True
    )
