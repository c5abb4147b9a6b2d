"""`plait run`: starts several processes of a program as the ranks of one job, without MPI."""

from __future__ import annotations

import os

import click

from plait.launch.processes import Ranks

_EXAMPLES = """
\b
Examples:
  plait run -n 4 python simulate.py
  plait run ./simulate --steps 10
  plait run -n 2 --label -- python analyse.py -v
  plait run -n 4 plait copy field.npy 'stripe:field?disks=/mnt/a,/mnt/b'
  plait trace record -- plait run -n 4 python simulate.py
"""

_MAX_RANKS = 4096


@click.command(
    "run",
    epilog=_EXAMPLES,
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "-n",
    "--ranks",
    type=click.IntRange(1, _MAX_RANKS),
    help="Number of ranks.  [default: the available cores]",
)
@click.option("-l", "--label", is_flag=True, help="Begin each line of output with the rank that wrote it.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="[--] PROGRAM [ARGUMENTS]...")
def run_command(ranks: int | None, label: bool, command: tuple[str, ...]) -> None:
    """Start PROGRAM several times, as the ranks of one job on this host.

    The ranks find each other by plait.world() in Python, Comm::world() in C++, plait_comm_world() in C and
    plait_world() in Fortran, and need no MPI: PLAIT_JOB, PLAIT_SIZE and PLAIT_RANK tell each which one it is.

    Rank 0 gets the standard input. Signals go to all ranks. If a rank fails, the others are ended, and the exit status
    is that of the failed rank, or 128 plus the number of the signal that ended it; 127 if there is no such program.
    """
    try:
        started = Ranks(list(command), ranks or len(os.sched_getaffinity(0)), label=label)
    except OSError as error:
        if error.filename != command[0]:
            raise
        click.echo(f"plait: {command[0]}: {error.strerror}", err=True)
        raise SystemExit(126 if isinstance(error, PermissionError) else 127) from None
    with started:
        status = started.wait(lambda text: click.echo(f"plait: {text}", err=True))
    raise SystemExit(status)
