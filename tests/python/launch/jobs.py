"""Jobs whose ranks are started without MPI: by `plait run`, or one process at a time as another launcher would."""

import contextlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence

# Precedes the program of each rank (python_command).
HEAD = """
import os, signal, sys, time
import numpy as np
import plait
comm = plait.world()
rank, size = comm.rank, comm.size
"""
PLAIT = (sys.executable, "-m", "plait.cli")


def python_command(source: str) -> list[str]:
    """Return the command that runs Python code after HEAD, which connects the ranks and defines `comm` and `rank`."""
    return [sys.executable, "-c", HEAD + textwrap.dedent(source)]


def start(ranks: int | None, command: Sequence[str], *options: str, **popen_options) -> subprocess.Popen[str]:
    """Start a job of `plait run`; its stdout has the output and the errors of all ranks.

    ranks          number of ranks; None for the default of `plait run`
    options        of `plait run`
    popen_options  of subprocess.Popen
    """
    rank_option = [] if ranks is None else ["-n", str(ranks)]
    return subprocess.Popen(
        [*PLAIT, "run", *rank_option, *options, "--", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **{"stdin": subprocess.DEVNULL, **popen_options},
    )


def run(ranks: int | None, command: Sequence[str], *options: str, **popen_options) -> tuple[int, str]:
    """Return the exit status and the output of `plait run`; arguments as for start, and `input` for its stdin."""
    input_ = popen_options.pop("input", None)
    if input_ is not None:
        popen_options["stdin"] = subprocess.PIPE
    with start(ranks, command, *options, **popen_options) as job:
        try:
            output, _ = job.communicate(input_, timeout=300)
        except BaseException:
            job.kill()
            raise
    return job.returncode, output


def check_output(ranks: int, source: str) -> str:
    """Return the output of the ranks of a program, and check that they end successfully."""
    status, output = run(ranks, python_command(source))
    assert status == 0, output
    return output


@contextlib.contextmanager
def start_by_hand(command: Sequence[str], *settings: dict[str, str]) -> Iterator[list[subprocess.Popen[str]]]:
    """Start a process with each of these environments, without `plait run`; the processes end with the block."""
    ranks = [
        subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for environment in settings
    ]
    try:
        yield ranks
    finally:
        for rank in ranks:
            if rank.poll() is None:
                rank.kill()
            rank.communicate()


def rank_environment(rank: int, size: int, name: str = "hand") -> dict[str, str]:
    """Return the environment variables from which a process knows that it is a rank of a job."""
    return {"PLAIT_JOB": name, "PLAIT_SIZE": str(size), "PLAIT_RANK": str(rank)}


def wait_for_outputs(ranks: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Wait until the ranks end, and return the output of each."""
    return [rank.communicate(timeout=300)[0] for rank in ranks]
