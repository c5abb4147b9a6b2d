"""`plait simulate run`: an access of Plait's own on a machine that is described."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from plait.cli.lists import Bytes
from plait.cli.simulate.machine import complete_machines
from plait.cli.support import messages, run_with_bar

_EXAMPLES = """
\b
Examples:
  plait simulate run --ranks 10000 -- read "(block, block) onto (100, 100)" from "big.npy?shape=100000x100000"
  plait simulate run --machine mine.toml -- write "(block, cyclic(8)) onto (8, 8)" to field.npy
  plait simulate run --machine cluster --per-node 16 --strategy direct -- read "(block, *) onto (64)" from a.npy
  plait simulate run --plot run.png -- read "(*, block) onto (64)" from "a.bin?shape=8192x8192&dtype=float32&order=F"
"""
_PREPOSITIONS = {"read": "from", "write": "to"}


@click.command("run", epilog=_EXAMPLES)
@click.argument("access", nargs=-1, required=True, metavar="-- read LAYOUT from STORE | write LAYOUT to STORE")
@click.option("--ranks", type=click.IntRange(min=1), help="Ranks of the communicator.  [default: those of the layout]")
@click.option(
    "--machine",
    default="cluster",
    show_default=True,
    shell_complete=complete_machines,
    help="A machine file, or the name of one that comes with Plait.",
)
@click.option(
    "--per-node",
    type=click.IntRange(min=0),
    help="Ranks on each node; 0 for all on one.  [default: as in the machine file]",
)
@click.option("--cached", is_flag=True, help="Assume that the file is in the page cache of each node.")
@click.option(
    "--strategy",
    type=click.Choice(["automatic", "direct", "two-phase"]),
    default="automatic",
    help="Strategy of the access.",
)
@click.option("--memory", type=Bytes(), help="Staging memory of a rank, such as 16M.")
@click.option("--readers", type=click.IntRange(min=1), help="Number of ranks that read or write the file.")
@click.option(
    "--windows", type=click.IntRange(min=1), help="Simulate only this many windows of each reader, from the first."
)
@click.option("--json", "json_", is_flag=True, help="Print the document as JSON.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a chart: SVG if FILE ends with .svg, else PNG.",
)
def run_command(access: tuple[str, ...], json_: bool, plot: Path | None, **options: Any) -> None:
    """Simulate a collective read or write as Plait would carry it out on a described machine.

    LAYOUT states how ranks hold the array, as "(block, cyclic(8)) onto (8, 8)"; STORE has its shape.  STORE is a file,
    or describes one that does not exist: "big.npy?shape=100000x100000&dtype=float32".  The default of dtype is float64;
    order=F, offset=128 and chunks=1000x1000 may follow.
    """
    from plait import simulate

    action, layout, store = _parse(access)
    result = run_with_bar(
        lambda progress: simulate.run_plan(action, layout, store, progress=progress, **options), "planning"
    )
    click.echo(result.to_json() if json_ else str(result))
    if plot is not None:
        result.plot(plot)
        messages().print(f"picture written to {plot}", soft_wrap=True)


def _parse(words: tuple[str, ...]) -> tuple[str, str, str]:
    """Return action, layout and store. The words may be a single argument; the words of a layout need no quotes."""
    text = " ".join(words)
    match = re.fullmatch(r"\s*(\w+)\s+(.+?)\s+(from|to)\s+(\S.*?)\s*", text, re.DOTALL)
    if match is None or _PREPOSITIONS.get(match[1]) != match[3]:
        raise click.UsageError(
            f"found {text!r}, expected -- read LAYOUT from STORE, or -- write LAYOUT to STORE, such as "
            'read "(block, *) onto (64)" from "big.npy?shape=8192x8192"'
        )
    return match[1], match[2], match[4]
