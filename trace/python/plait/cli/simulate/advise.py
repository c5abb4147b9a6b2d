"""`plait simulate advise`: finds changes that would make a traced program faster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from plait.cli.simulate.machine import complete_machines
from plait.cli.simulate.replay import machine_options
from plait.cli.support import messages, run_with_bar

_EXAMPLES = """
\b
Examples:
  plait simulate advise run.plait --machine mine.toml
  plait simulate advise run.plait --machine cluster --json
"""


@click.command("advise", epilog=_EXAMPLES)
@click.argument("traces", nargs=-1, required=True, type=click.Path())
@click.option(
    "--machine",
    default="laptop-nvme",
    show_default=True,
    shell_complete=complete_machines,
    help="A machine file, or the name of one that comes with Plait.",
)
@machine_options
@click.option("--json", "json_", is_flag=True, help="Print JSON: one object with the changes and the model's error.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write a self-contained page.",
)
def advise_command(
    traces: tuple[str, ...], machine: str, json_: bool, html: Path | None, **options: str | None
) -> None:
    """Try changes to the programs in TRACES and to the machine, one at a time, and rank them by the seconds saved.

    First the recorded run is replayed with its measured times, which shows how much of it the model does not explain.
    """
    from plait import simulate

    file = options.pop("file")
    settings: dict[str, Any] = {name: value for name, value in options.items() if value is not None}

    def work(progress: Any) -> Any:
        recording = simulate.record(list(traces), progress, file=file)
        return simulate.advise(recording, machine, progress=progress, **settings)

    advice = run_with_bar(work, "reading the traces")
    click.echo(advice.to_json() if json_ else str(advice))
    if html is not None:
        advice.html(html)
        messages().print(f"page written to {html}", soft_wrap=True)
