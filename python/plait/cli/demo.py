"""`plait demo`: real data through eight distributions, a picture, and a short benchmark."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import plait
from plait._base.amounts import number, size
from plait.cli.bench import find_bench
from plait.cli.support import UserError, output

if TYPE_CHECKING:
    import numpy.typing as npt
    from rich.console import Console

_MAX_SILENCE = 60.0  # maximum seconds between two reports of the ranks

_EXAMPLES = """
\b
Examples:
  plait demo
  plait demo --ranks 6 --dir /tmp/plait-demo
"""


@click.command("demo", epilog=_EXAMPLES)
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("plait-demo"),
    show_default=True,
    help="Folder for the data and the picture.",
)
@click.option("--ranks", type=click.IntRange(min=1), default=4, show_default=True, help="Number of MPI processes.")
@click.option("--no-bench", is_flag=True, help="Leave the benchmark out.")
def demo_command(directory: Path, ranks: int, no_bench: bool) -> None:
    """Write terrain data from several ranks, read it back under eight distributions, and compare with MPI-IO.

    The data is the elevation model that comes with matplotlib.  It takes some 15 seconds.
    """
    import numpy as np

    from plait.launch import require_mpi

    console = output()
    require_mpi()
    elevation = _load_elevation()
    directory.mkdir(parents=True, exist_ok=True)
    rows, columns = elevation.shape
    console.print(f"[bold]1.[/bold] Elevation around the Jacksboro fault: {rows} x {columns} {elevation.dtype} values.")
    outcome = _write_and_read(elevation, directory, ranks)
    path = directory / "elevation.npy"
    console.print(
        f"[bold]2.[/bold] {ranks} ranks wrote {path} together, in {number(outcome.write_seconds * 1000)} ms.\n"
        f"   Each held its part of: {outcome.write_layout}",
        soft_wrap=True,
    )
    is_same = np.array_equal(np.load(path), elevation)
    console.print(f"   numpy.load reads the same array: {'yes' if is_same else 'NO'}.")
    console.print("[bold]3.[/bold] The ranks read it back under eight distributions:")
    _print_reads(console, outcome)
    picture = directory / "elevation.png"
    _draw(elevation, outcome, ranks, picture)
    console.print(f"[bold]4.[/bold] Picture of who owns what: {picture}", soft_wrap=True)
    is_correct = is_same and all(read.correct for read in outcome.reads)
    _print_trace(console, directory)
    if not no_bench:
        is_correct = _run_benchmark(console, directory, ranks) and is_correct
    if not is_correct:
        raise UserError("some data was wrong; see above")


@dataclass(frozen=True)
class _Read:
    layout: str
    seconds: float
    correct: bool


@dataclass
class _Outcome:
    write_layout: str = ""
    write_seconds: float = 0.0
    reads: list[_Read] = field(default_factory=list)


def _load_elevation() -> npt.NDArray[Any]:
    import numpy as np

    try:
        from matplotlib import cbook
    except ImportError as error:
        raise plait.Error("the demo needs matplotlib; install it with: pip install 'plait[plot]'") from error
    sample: Any = cbook.get_sample_data("jacksboro_fault_dem.npz")
    with sample:
        return np.ascontiguousarray(sample["elevation"])


def _write_and_read(elevation: npt.NDArray[Any], directory: Path, ranks: int) -> _Outcome:
    """Run the ranks. They get the array as a file, with which they compare the elements that they read."""
    import numpy as np

    from plait.launch import LaunchError, RankProgram

    reference = directory / "reference.npy"
    np.save(reference, elevation, allow_pickle=False)
    outcome = _Outcome()
    arguments = [str(reference.resolve()), str((directory / "elevation.npy").resolve())]
    trace = (directory / "demo.plait").resolve()
    trace.unlink(missing_ok=True)
    try:
        with RankProgram(ranks, "plait.cli.demo_ranks", arguments, {"PLAIT_TRACE": str(trace)}) as program:
            for event in program.events(_MAX_SILENCE):
                if event["event"] == "written":
                    outcome.write_layout, outcome.write_seconds = event["layout"], event["seconds"]
                elif event["event"] == "read":
                    outcome.reads.append(_Read(event["layout"], event["seconds"], event["correct"]))
    finally:
        reference.unlink(missing_ok=True)
    if not outcome.reads:
        raise LaunchError("the ranks ended before they had read anything")
    return outcome


def _print_reads(console: Console, outcome: _Outcome) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("layout", no_wrap=True)
    table.add_column("milliseconds", justify="right")
    table.add_column("every byte as NumPy has it")
    for read in outcome.reads:
        table.add_row(read.layout, number(read.seconds * 1000), "[green]yes" if read.correct else "[bold red]NO")
    console.print(table)


def _print_trace(console: Console, directory: Path) -> None:
    """Print the conclusions of the report on the trace that the ranks recorded."""
    trace = getattr(plait, "trace", None)
    if trace is None:
        console.print("[bold]5.[/bold] The report on the ranks' requests is left out: this Plait was built without it.")
        return
    report = trace.report(directory / "demo.plait")
    page = directory / "demo.html"
    report.html(page)
    amplification = report["amplification"] or {}
    console.print(
        f"[bold]5.[/bold] The ranks recorded their requests: {report['table1']['ios']} of the program's, "
        f"{size(report['table1']['io_bytes'])}; {size(amplification.get('physical_bytes', 0))} reached the file.\n"
        f"   What that means, to click through: {page}",
        soft_wrap=True,
    )


def _run_benchmark(console: Console, directory: Path, ranks: int) -> bool:
    """Run a short benchmark if the benchmarks are installed.  Returns False if it has read wrong data."""
    bench = find_bench()
    if bench is None:
        console.print(
            "[bold]6.[/bold] The benchmark beside MPI-IO is left out; install it with: pip install 'plait\\[bench]'"
        )
        return True
    console.print("[bold]6.[/bold] A short benchmark beside MPI-IO (plait bench io measures more):\n")
    try:
        bench.main(
            ["io", "--doubles", "1000", "--ranks", str(ranks), "--rounds", "3", "--cut", "1", "--dir", str(directory)],
            prog_name="plait bench",
            standalone_mode=False,
        )
    except SystemExit:  # some data was wrong
        return False
    return True


def _draw(elevation: npt.NDArray[Any], outcome: _Outcome, ranks: int, path: Path) -> None:
    from plait.draw.terrain import terrain_png

    caption = f"One file, eight distributions over {ranks} ranks (close-up: the middle)"
    terrain_png(elevation, [plait.Layout.parse(read.layout) for read in outcome.reads], caption, path)
