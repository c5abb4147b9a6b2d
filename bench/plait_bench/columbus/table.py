"""The results of `plait bench columbus` as table 1 of the paper on Distant I/O, and as a chart."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plait.draw.figure import new_figure, open_axis, save
from plait_bench.columbus.driver import ColumbusLocation, ColumbusResults
from plait_bench.columbus.job import ORDINARY, SHARED
from plait_bench.text import NOTHING, count_text, factor, ranks_header, rate, three_digits, titled_table

# Table 1 of the paper, one iteration on 128 processors of an IBM SP: name, MB read, I/O seconds, MB/s per processor.
_PAPER = (
    ("1998, PIOFS", "900,963", "906,297", "0.994"),
    ("1998, Distant I/O", "900,957", "235,708", "3.823"),
)
_TITLES = {SHARED: "Shared Files", ORDINARY: "One file"}
_KINDS = ("read", "write")


def columbus_table(results: ColumbusResults) -> RenderableType:
    """Return the results as header, table and notes."""
    return Group(_header(results), Text(), _table(results), _make_notes(results))


def _header(results: ColumbusResults) -> Text:
    machine = results.machine
    return ranks_header(machine, results.settings["ranks"], f", records on {machine['file system']}")


def _table(results: ColumbusResults) -> Table:
    settings = results.settings
    total = max(location.bytes for location in results.locations.values())
    table = titled_table(
        f"{settings['records']:,} records, {total / 1e6:,.1f} MB, in {settings['memory']} MiB of memory; "
        f"an iteration, median of {count_text(settings['rounds'], 'round')}"
    )
    table.add_column("", no_wrap=True)
    for title in ("Read, MB", "I/O time, s", "MB/s per CPU", "Written, MB", "I/O time, s", "MB/s per CPU"):
        table.add_column(title, justify="right", style="bold" if title.startswith("MB/s") else "")
    for name, title in _TITLES.items():
        location = results.locations[name]
        row = [title]
        for kind in _KINDS:
            seconds = location.median(f"{kind}_seconds")
            row += [
                three_digits(location.median(f"{kind}_bytes") / 1e6),
                three_digits(seconds),
                rate(location.rate(kind)),
            ]
        table.add_row(*row)
    for paper in _PAPER:
        table.add_row(*paper, *[NOTHING] * 3, style="dim")
    return table


def _make_notes(results: ColumbusResults) -> Text:
    locations = {title: results.locations[name] for name, title in _TITLES.items()}
    shared, ordinary_file = results.locations[SHARED], results.locations[ORDINARY]
    tasks = shared.updates + ordinary_file.updates
    lines = [
        *(_describe(title, location) for title, location in locations.items()),
        f"Shared Files read {factor(shared.rate('read') / ordinary_file.rate('read'))} and write "
        f"{factor(shared.rate('write') / ordinary_file.rate('write'))} as fast as one file; in 1998 it was 3.85x "
        "for reading.",
        "I/O time: summed over the ranks, without the time of computing and compressing.",
        "Writing includes the write-back of pages that must leave memory.",
        f"Each record was checked against its {count_text(results.settings['rounds'] + 1, 'update')}; "
        f"none of {tasks:,} tasks was lost or done twice.",
    ]
    if results.settings["ranks"] > int(results.machine["cores"]):
        lines.append("There are more ranks than cores: I/O time includes waiting for other ranks' computing.")
    return Text("\n".join(lines), style="dim")


def _describe(title: str, location: ColumbusLocation) -> str:
    disk = f", for each byte {location.from_disk:.2f} from the disk" if location.from_disk else ""
    moved = count_text(round(location.median("moved")), "record")
    return f"{title}: {location.description}; {location.request / 1e3:.1f} KB a read{disk}; {moved} moved."


def draw_columbus_chart(results: ColumbusResults, path: Path) -> None:
    """Write a chart as a PNG file: the bytes that each rank reads and writes per second, by the location of the
    records.

    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(8.0, 4.5)
    axis = figure.subplots()
    # Okabe and Ito's colours, which colour-blind readers can distinguish, and hatches for print.
    for number, (kind, colour, hatch) in enumerate((("read", "#0072b2", ""), ("write", "#e69f00", "//"))):
        positions = [k + (number - 0.5) * 0.4 for k in range(len(_TITLES))]
        rates = [results.locations[name].rate(kind) / 1e6 for name in _TITLES]
        axis.bar(positions, rates, 0.36, label=kind, color=colour, hatch=hatch, edgecolor="white", linewidth=0.5)
        for position, value in zip(positions, rates, strict=True):
            axis.text(position, value, three_digits(value), ha="center", va="bottom", fontsize=10)
    axis.set_xticks(range(len(_TITLES)), list(_TITLES.values()), fontsize=12)
    axis.set_ylabel("MB/s per CPU", fontsize=11)
    axis.legend(fontsize=10, frameon=False)
    axis.set_title("The pattern of COLUMBUS: compressed records, updated in any order", fontsize=12, loc="left")
    open_axis(axis, "y")
    figure.supxlabel(_header(results).plain, fontsize=9, color="#444444")
    save(figure, path)
