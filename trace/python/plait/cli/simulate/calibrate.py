"""`plait simulate calibrate`: a machine file for this machine."""

from __future__ import annotations

from pathlib import Path

import click

from plait.cli.support import run_with_bar

_EXAMPLES = """
\b
Examples:
  plait simulate calibrate /scratch > mine.toml
  plait simulate calibrate . --seconds 60 -o mine.toml
"""


@click.command("calibrate", epilog=_EXAMPLES)
@click.argument("folder", type=click.Path(file_okay=False, exists=True))
@click.option(
    "--seconds", type=click.FloatRange(1, 600), default=20.0, show_default=True, help="About how long to measure."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the machine file to FILE.  [default: standard output]",
)
def calibrate_command(folder: str, seconds: float, output: Path | None) -> None:
    """Measure this machine and the device of FOLDER, and print a machine file.

    A file of up to 256 MiB is written into FOLDER and then removed.
    """
    from plait import simulate

    text = run_with_bar(lambda progress: simulate.calibrate(folder, seconds=seconds, progress=progress), "measuring")
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
