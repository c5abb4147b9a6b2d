"""`plait trace record`: run a program and record its input and output."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

import plait
from plait.cli.support import messages
from plait.trace.recording.obstacles import ADVICE, find_obstacle, is_about_program

_EXAMPLES = """
\b
Examples:
  plait trace record -- python analyse.py
  plait trace record -o run.plait -- ./simulate --steps 10
  plait trace record --exclude '*.log' --include '/proc/*' -- ./simulate
  plait trace record -o run.plait -- mpiexec -n 4 ./simulate
  mpiexec -n 4 plait trace record -o run.plait -- ./simulate
"""


@click.command(
    "record",
    epilog=_EXAMPLES,
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("trace.plait"),
    show_default=True,
    metavar="FILE",
    help="The trace to write; an older trace is replaced.",
)
@click.option("--append", is_flag=True, help="Add to an existing trace.")
@click.option("--include", multiple=True, metavar="GLOB", help="Reports count files whose names match; repeatable.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Reports leave out files whose names match; repeatable.")
@click.option("--all", "everything", is_flag=True, help="Reports leave out only the files of --exclude.")
@click.option("-q", "--quiet", is_flag=True, help="Do not print what was recorded.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENTS]...")
def record_command(
    path: Path,
    append: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    everything: bool,
    quiet: bool,
    command: tuple[str, ...],
) -> None:
    """Run a program and record its input and output, and that of every process that it starts.

    Nothing needs to be compiled or changed, and MPI is not needed. The exit status is that of the command, 128 plus the
    number of the signal that ended it, or 127 if the command does not exist.

    The trace holds everything. Reports of it leave out files of the system, of MPI, of libraries and of interpreters,
    and count them in one line; --include, --exclude and --all change that.
    """
    from plait.trace.recording.record import find_program, record

    try:
        reason = find_obstacle(find_program(command[0]))
        if reason is not None:
            warn(f"{reason}. Nothing of it is recorded, only programs that it starts")
        status = record(list(command), path, append=append, include=include, exclude=exclude, all=everything)
    except OSError as error:
        if error.filename != command[0]:
            raise
        click.echo(f"plait: {command[0]}: {error.strerror}", err=True)
        raise SystemExit(126 if isinstance(error, PermissionError) else 127) from None
    if not quiet:
        describe_record(path)
    raise SystemExit(status)


_MAX_NAMED = 3
_FOREIGN = "files of the system, libraries and interpreters"


def warn(text: str) -> None:
    """Print a warning."""
    click.echo(f"plait: warning: {text.removesuffix('.')}.", err=True)


def describe_record(path: Path) -> None:
    """Print a summary of a trace in one line, on rank 0 only."""
    if not path.exists():
        click.echo(f"plait: nothing was recorded: {path} was not made", err=True)
        return
    rank = next((os.environ[name] for name in ("PMI_RANK", "PMIX_RANK") if name in os.environ), "0")
    if rank != "0":
        return
    try:
        with plait.trace.open(path) as trace:
            events = sum(len(batch) for batch in trace)
            processes = len(trace.processes)
            missed = trace.missed
            complete = trace.description.complete
        report = plait.trace.report(path)
    except plait.Error as error:
        click.echo(f"plait: {error}", err=True)
        return
    left_out = report["left_out"]["calls"]
    share = report["trace"]["coverage"]["share"]
    if share == 1 or (not missed and complete):
        text = "all of what is known to have happened"
    elif share is None:
        text = "an unknown share of what happened"
    else:
        text = f"{min(100 * share, 99.99):.2f} % of what is known to have happened"
    messages().print(
        f"plait: {events} events of {processes} {'process' if processes == 1 else 'processes'}, {text}, in {path}"
        + (f"; reports leave out {left_out} on {_describe_left_out(report['left_out']['kinds'])}" if left_out else ""),
        soft_wrap=True,
    )
    programs = [gap for gap in missed if is_about_program(gap.reason)]
    for gap in programs[:_MAX_NAMED]:
        warn(f"{gap.reason}: {max(gap.events, 1)} {'process' if gap.events <= 1 else 'processes'}")
    if len(programs) > _MAX_NAMED:
        warn(f"{len(programs) - _MAX_NAMED} further programs ran unrecorded; plait trace report {path} names them")
    if programs:
        warn(f"what these programs read and wrote is not in the trace. {ADVICE}")


def _describe_left_out(kinds: list[dict[str, Any]]) -> str:
    kinds_of_files = {"files that were excluded" if row["what"] == "excluded files" else _FOREIGN for row in kinds}
    return " and ".join(sorted(kinds_of_files, key=lambda text: text != _FOREIGN))
