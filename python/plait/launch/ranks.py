"""The reports of the ranks of a RankProgram to the process that started them: one JSON document per line."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable
from typing import Any

from mpi4py import MPI

_READING_SECONDS = 2.0


def report(event: str, **fields: Any) -> None:
    """Print a report for the process that started the ranks.  Only one rank reports."""
    print(json.dumps({"event": event, **fields}), flush=True)


def end_all_on_error(work: Callable[[], None]) -> None:
    """Run the work; if it raises, report the error and end all ranks."""
    try:
        work()
    except Exception as error:
        traceback.print_exc()
        report("error", text=f"rank {MPI.COMM_WORLD.rank}: {type(error).__name__}: {error}")
        # A launcher may discard the output of ranks if one of them aborts.  The process that reads the report ends the
        # ranks before this pause is over.  If no process reads it, the rank ends them itself.
        time.sleep(_READING_SECONDS)
        MPI.COMM_WORLD.Abort(1)
