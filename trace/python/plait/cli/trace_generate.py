"""`plait trace generate`: traces made after the paper of 1992."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plait.cli.support import UserError, output, run_with_bar, writing_to

if TYPE_CHECKING:
    from rich.table import Table

_EXAMPLES = """
\b
Examples:
  plait trace generate --list
  plait trace generate venus -o venus.plait
  plait trace generate venus -o pair.1992 --copies 2 --seed 7
  plait trace generate les -o les.csv --burst 0.5
"""


def _table() -> Table:
    from rich.table import Table

    from plait.trace import workloads

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("name", "program", "CPU s", "data MiB", "I/Os", "MiB/s read", "written", "KiB", "cycles", "pattern"):
        table.add_column(name, justify="left" if name in ("name", "program", "pattern") else "right")
    for workload in workloads():
        table.add_row(
            workload.name, workload.field, str(workload.seconds), f"{workload.data_mb:g}", f"{workload.requests:,}",
            f"{workload.read_mb:g}", f"{workload.write_mb:g}", f"{workload.request_kb:g}", str(workload.cycles or "-"),
            workload.pattern,
        )  # fmt: skip
    return table


@click.command("generate", epilog=_EXAMPLES)
@click.argument("name", required=False)
@click.option("-o", "--output", "target", metavar="FILE", help="The trace to write; its ending determines the format.")
@click.option(
    "--to", "to_format", metavar="FORMAT", help="Format of the trace, if the ending of FILE does not determine it."
)
@click.option("--list", "list_", is_flag=True, help="Show the workloads with their figures.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the random variations.")
@click.option(
    "--copies",
    type=click.IntRange(1, 4096),
    default=1,
    show_default=True,
    help="Number of programs that run side by side, each with its own files.",
)
@click.option(
    "--offset",
    type=click.FloatRange(0, 1e6),
    metavar="SECONDS",
    help="Time between the starts of two copies.  [default: within a cycle, by the seed]",
)
@click.option(
    "--burst",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Share of a cycle's CPU time in which its requests are made.  [default: the workload's own]",
)
def generate_command(
    name: str | None,
    target: str | None,
    to_format: str | None,
    list_: bool,
    seed: int,
    copies: int,
    offset: float | None,
    burst: float | None,
) -> None:
    """Generate the trace of one of seven supercomputer programs, to try tools and file systems with.

    The programs are those of Miller's paper of 1992. Their traces are lost; the generated ones have the figures of the
    paper's tables and the patterns that it describes. Any command that reads a trace also takes workload:NAME, as in
    workload:venus?copies=2, in place of a file.
    """
    from plait.cli.trace_summary import print_summary
    from plait.trace import generate, workloads

    if list_:
        output().print(_table())
        return
    if name is not None and name not in (names := [workload.name for workload in workloads()]):
        raise UserError(f"there is no workload {name!r}; use one of: {', '.join(names)}")
    if name is None or target is None:
        raise UserError("a workload and the file to write are needed, as in: plait trace generate venus -o venus.plait")
    with writing_to(target):
        summary = run_with_bar(
            lambda bar: generate(
                name,
                target,
                seed=seed,
                copies=copies,
                offset=offset,
                burst=burst,
                format=to_format,
                progress=lambda share: bar(f"writing {target}", share),
            ),
            "making",
        )
    print_summary(summary, target)
