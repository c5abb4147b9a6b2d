"""Ends an interrupted copy within a second, even during a long access, and removes incomplete output.

Problem: Python runs the handler of a signal only after a call of the library returns, which may take as long as a
window of gigabytes.

Idea: Python's C-level signal handler writes each signal to a pipe at once (`signal.set_wakeup_fd`). A thread reads that
pipe. If the copy has not ended `PATIENCE` seconds later, the thread replaces the process by another program (exec).
This ends all threads and frees all locks; the new program then removes the incomplete output of the copy.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from plait import _core
from plait._copying.hierarchy.additions import active

PATIENCE = 0.7
"""Seconds that an interrupted copy has to end by itself."""
_PROGRAM = "import sys; sys.path[:] = sys.argv[2].split(':'); from plait.cli.copying.stopping import main; main()"
"""The program that replaces this one. It gets the module path as an argument: `-m` would search the working folder."""
_RESTORE_TERMINAL = "\r\x1b[2K\x1b[?25h"
"""Control sequence of terminals: erases the line with the progress bar, and shows the cursor again."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def ended_in_time(targets: list[str], message: str, *, resumed: bool = False) -> Iterator[None]:
    """End this process if it still runs `PATIENCE` seconds after a signal; see the module.

    targets  names of the files that the copy writes
    message  the message to print in that case
    resumed  True to make the completed work durable first, because a later copy resumes from it
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    ended = threading.Event()

    def watch() -> None:
        while (number := os.read(read_end, 1)) != b"":
            if number[0] in _SIGNALS and not ended.wait(PATIENCE):
                job = {
                    "targets": targets,
                    "message": message,
                    "resumed": resumed,
                    "additions": [asdict(additions) for additions in active],
                    "uploads": _core.active_uploads(),
                }
                # The names of thousands of arrays may exceed the size limit of an argument, but not a memory file.
                file = os.memfd_create("plait-stopped-copy", 0)
                with os.fdopen(file, "w", encoding="utf-8", closefd=False) as out:
                    json.dump(job, out)
                os.execv(sys.executable, [sys.executable, "-c", _PROGRAM, str(file), ":".join(sys.path)])

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    previous = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(previous)
        os.close(write_end)
        thread.join()
        os.close(read_end)


def main() -> None:
    """Print that a copy was stopped, and remove its incomplete output."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with os.fdopen(int(sys.argv[1]), encoding="utf-8") as file:
        file.seek(0)
        job: dict[str, Any] = json.load(file)
    from plait._base.errors import Error
    from plait._copying.hierarchy.additions import Additions
    from plait._copying.leftovers import remove_leftovers

    message = job["message"]
    for target in job["targets"]:
        remove_leftovers(target)
        if job["resumed"]:
            from plait._copying.resume.resuming import make_stopped_copy_durable

            make_stopped_copy_durable(target)
    for values in job["additions"]:
        additions = Additions(**values)
        additions.remove()
        if clause := additions.describe_replaced():
            message = f"the copy was stopped; {clause}"
    shown = _RESTORE_TERMINAL if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb" else ""
    sys.stderr.write(f"{shown}Error: {message}\n")
    sys.stderr.flush()
    # One attempt per request, because the user waits for the end. `plait clean` aborts uploads that are left.
    os.environ["AWS_MAX_ATTEMPTS"] = "1"
    for url, key, upload in job["uploads"]:
        with contextlib.suppress(Error):
            if unfinished := _core.unfinished_uploads(url):
                unfinished.abort(key, upload)
    sys.exit(1)
