"""Giving up a handle because of an exception, of which the other ranks may not hear soon."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable

PATIENCE = 3.0  # seconds


def abandon(give_up: Callable[[], None], what: object, error: BaseException | None) -> None:
    """Abandon a handle by `give_up`, which waits for what this rank has started with the others.

    Without threads in MPI, between nodes, it also waits for their next collective call.  They may wait for this rank in
    a call that is not Plait's, and all of them for ever: then at least the error is to be seen, which would be printed
    only once this has returned.
    """
    timer = threading.Timer(PATIENCE, _show, [what, error])
    timer.daemon = True
    timer.start()
    try:
        give_up()
    finally:
        timer.cancel()


def _show(what: object, error: BaseException | None) -> None:
    told = "".join(traceback.format_exception(error)) if error is not None else ""
    sys.stderr.write(
        f"plait: a rank has given up {what!r} because of the error below, and waits until the others make a "
        f"collective call of Plait and hear of it; if they wait for this rank in MPI, end the job\n{told}"
    )
    sys.stderr.flush()
