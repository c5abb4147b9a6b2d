"""The results of `plait bench distant` as tables, and as figures 3 and 4 of the paper."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plait.draw.figure import new_figure, open_axis, save
from plait.draw.palette import line_style
from plait_bench.distant.driver import DistantResults
from plait_bench.distant.job import LATENCIES, LOCAL, NEIGHBOUR, READ, REMOTE, WRITE, Cell
from plait_bench.text import count_text, microseconds, ranks_header, rate, short_bytes, titled_table


def distant_table(results: DistantResults) -> RenderableType:
    """Return the results as header, tables and notes."""
    locations = (REMOTE, NEIGHBOUR) if results.on_one_host else (REMOTE,)
    rates = [_rates_table(results, where) for where in locations]
    return Group(_header(results), Text(), *rates, _latencies_table(results), _make_notes(results))


def _header(results: DistantResults) -> Text:
    machine = results.machine
    return ranks_header(machine, 2, f", disks on {machine['file system']}")


def _rates_table(results: DistantResults, other: str) -> Table:
    settings = results.settings
    table = titled_table(
        f"{settings['megabytes']} MiB from and to a disk, MB/s, median of {count_text(settings['rounds'], 'round')}"
    )
    table.add_column("Request", no_wrap=True)
    table.add_column("Ahead", justify="right")
    for kind in (READ, WRITE):
        for title in (f"{kind.capitalize()}, local", other, "share"):
            table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "share" else "")
    for ahead in settings["ahead"]:
        for size in settings["sizes"]:
            row = [short_bytes(size), str(ahead)]
            for kind in (READ, WRITE):
                cells = [Cell(where, kind, size, ahead) for where in (LOCAL, other)]
                row += [*(rate(results.rate(cell)) for cell in cells), f"{100 * results.share(cells[1]):.0f} %"]
            table.add_row(*row)
    return table


def _latencies_table(results: DistantResults) -> Table:
    table = titled_table("4 KiB in the page cache, one at a time, microseconds, median")
    names = [name for name in LATENCIES if name in results.latencies]
    for name in names:
        table.add_column(name.capitalize(), justify="right")
    table.add_row(*(microseconds(results.latency(name)) for name in names))
    return table


def _make_notes(results: DistantResults) -> Text:
    trip = results.latency(LATENCIES[0])
    extra = {
        kind: (results.latency(f"{REMOTE} {kind}") - results.latency(f"{LOCAL} {kind}")) / trip
        for kind in (READ, WRITE)
    }
    lines = [
        f"A remote small read takes {extra[READ]:.2f} bare round trips more than a local one, "
        f"a write {extra[WRITE]:.2f}.",
        f"An idle handler takes {100 * max(results.idle):.2f} % of a core.",
        f"A computing rank whose disk is read, 32 KiB at a time, takes {100 * results.slowdown('served'):.1f} % "
        f"longer; the service itself takes {100 * results.service('served'):.1f} % of a core.",
        *_neighbour_notes(results),
        "Reads come from the disk: the files are dropped from the page cache first.  Writes end with a sync.",
        "Bare round trip: a call that moves no file's bytes.  Every byte that was read was checked.",
    ]
    return Text("\n".join(lines), style="dim")


def _neighbour_notes(results: DistantResults) -> list[str]:
    if not results.on_one_host:
        return []
    return [
        f"While a rank of the same node reads that disk, it takes {100 * results.slowdown('near'):.1f} % longer, "
        f"and the service {100 * results.service('near'):.1f} % of a core."
    ]


def draw_distant_chart(results: DistantResults, path: Path) -> None:
    """Write the chart as a PNG file: rates over the size of a request, with a panel per number of requests in flight.

    errors  plait.Error if matplotlib is not installed
    """
    settings = results.settings
    figure = new_figure(6.5 * len(settings["ahead"]), 6.0)
    panels = figure.subplots(1, len(settings["ahead"]), squeeze=False, sharey=True)
    sizes = sorted(settings["sizes"])
    for axis, ahead in zip(panels.flat, settings["ahead"], strict=True):
        for number, (kind, where) in enumerate((k, w) for k in (READ, WRITE) for w in (LOCAL, REMOTE)):
            rates = [results.rate(Cell(where, kind, size, ahead)) / 1e6 for size in sizes]
            axis.plot(sizes, rates, label=f"{where} {kind}", linewidth=1.8, markersize=6, **line_style(number))
        axis.set_title(f"{count_text(ahead, 'request')} in flight", fontsize=12, loc="left")
        axis.set_xlabel("request, bytes", fontsize=11)
        axis.set_xscale("log", base=2)
        axis.set_xticks(sizes, [short_bytes(size) for size in sizes])
        axis.minorticks_off()
        axis.set_ylim(bottom=0)
        open_axis(axis)
    panels.flat[0].set_ylabel("MB/s", fontsize=11)
    panels.flat[0].legend(fontsize=10, frameon=False)
    figure.suptitle(
        "Distant I/O: figures 3 and 4 of Nieplocha, Foster and Dachsel (1998), on this machine", fontsize=13
    )
    figure.supxlabel(_header(results).plain, fontsize=9, color="#444444")
    save(figure, path)
