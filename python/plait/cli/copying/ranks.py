"""The ranks of `plait copy --ranks N`: ``mpiexec -n N python -m plait.cli.copying.ranks JOB``.

JOB is a JSON file with the arguments of plait.copy and the path `stop`. The ranks abandon the copy once a file exists
at that path.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mpi4py import MPI

import plait
from plait.cli.copying.running import StoppedError, add_notes, has_steps, make_stopped_text, to_summary
from plait.launch.ranks import report

_POLL_INTERVAL = 0.2  # seconds between checks for the file `stop`


def stop_waits(stop: Path) -> None:
    """Interrupt a wait of this process for a pipe, which may be endless, as soon as the file `stop` exists."""
    signal.signal(signal.SIGUSR1, signal.default_int_handler)

    def watch() -> None:
        while not stop.exists():
            time.sleep(_POLL_INTERVAL)
        os.kill(os.getpid(), signal.SIGUSR1)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Copy with all ranks; rank 0 reports the progress and the result."""
    comm = MPI.COMM_WORLD
    job: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    stop = Path(job.pop("stop"))

    def progress(done: int, total: int) -> None:
        if comm.rank == 0:
            report("progress", done=done, total=total)
            if stop.exists():
                raise StoppedError(make_stopped_text(job))

    if comm.rank == 0 and has_steps(job):
        stop_waits(stop)
    if comm.rank == 0:
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: report("warning", text=str(message))
    try:
        done = plait.copy(**job, comm=comm, progress=progress)
    except (plait.Error, OSError, StoppedError, KeyboardInterrupt) as error:
        if comm.rank == 0:
            report("failed", text=add_notes(error), argument=isinstance(error, plait.ArgumentError))
        return
    if comm.rank == 0:
        report("copied", **asdict(to_summary(done)))


if __name__ == "__main__":
    main()
