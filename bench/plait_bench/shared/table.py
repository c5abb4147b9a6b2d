"""The results of `plait bench shared` as a table and as a chart."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plait.draw.figure import new_figure, open_axis, save
from plait.draw.palette import line_style
from plait_bench.shared.driver import SharedResults
from plait_bench.shared.job import KINDS, SERVED, SHARED
from plait_bench.text import NOTHING, count_text, ranks_header, rate, short_bytes, titled_table

_TITLES = {SHARED: "Shared Files", SERVED: "one disk for all"}


def shared_table(results: SharedResults) -> RenderableType:
    """Return the results as header, table and notes."""
    return Group(_header(results), Text(), _table(results), _make_notes(results))


def _header(results: SharedResults) -> Text:
    return ranks_header(results.machine, results.settings["ranks"])


def _table(results: SharedResults) -> Table:
    settings = results.settings
    table = titled_table(
        f"{settings['megabytes']} MiB a host in requests of {short_bytes(settings['request'])}, "
        f"MB/s of all ranks, median of {count_text(settings['rounds'], 'round')}"
    )
    table.add_column("Hosts", justify="right", no_wrap=True)
    for kind in KINDS:
        for title in (f"{kind.capitalize()}, shared", "of linear", "one disk"):
            table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "of linear" else "")
    for hosts in results.hosts:
        row = [str(hosts)]
        for kind in KINDS:
            linear_share = results.linear_share(hosts, kind)
            row += [
                rate(results.cells[SHARED, hosts].rate(kind)),
                NOTHING if linear_share is None else f"{100 * linear_share:.0f} %",
                rate(results.cells[SERVED, hosts].rate(kind)),
            ]
        table.add_row(*row)
    return table


def _make_notes(results: SharedResults) -> Text:
    lines = [
        "Shared: Shared Files, striped over the disks of all ranks.  One disk: that of rank 0, which serves all ranks.",
        "Of linear: the rate divided by n times the rate of one host.",
        "Reads come from the disks: the files are dropped from the page cache first.  Writes end with a sync.",
        "Every byte was checked.",
    ]
    if max(results.hosts) == 1:
        lines.append("All ranks are on one host; scripts/hosts.py divides this machine into several hosts.")
    return Text("\n".join(lines), style="dim")


def draw_shared_chart(results: SharedResults, path: Path) -> None:
    """Write a chart as a PNG file: rates over the number of hosts, with a panel for reading and one for writing.

    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(11.0, 5.0)
    panels = figure.subplots(1, len(KINDS), squeeze=False, sharey=True)
    for axis, kind in zip(panels.flat, KINDS, strict=True):
        for number, (location, title) in enumerate(_TITLES.items()):
            rates = [results.cells[location, hosts].rate(kind) / 1e6 for hosts in results.hosts]
            axis.plot(results.hosts, rates, label=title, linewidth=1.8, markersize=6, **line_style(number))
        if 1 in results.hosts:
            alone = results.cells[SHARED, 1].rate(kind) / 1e6
            linear_rates = [alone * hosts for hosts in results.hosts]
            axis.plot(results.hosts, linear_rates, label="linear", color="#999999", linewidth=1, linestyle=":")
        axis.set_title(kind, fontsize=12, loc="left")
        axis.set_xlabel("hosts", fontsize=11)
        axis.set_xticks(results.hosts)
        axis.set_ylim(bottom=0)
        open_axis(axis)
    panels.flat[0].set_ylabel("MB/s, all ranks", fontsize=11)
    panels.flat[0].legend(fontsize=10, frameon=False)
    figure.suptitle("Bandwidth of one file by the number of hosts", fontsize=13)
    figure.supxlabel(_header(results).plain, fontsize=9, color="#444444")
    save(figure, path)
