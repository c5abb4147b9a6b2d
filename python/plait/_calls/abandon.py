"""Abandons a handle because of an exception that the other ranks may not notice soon."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable

PATIENCE = 3.0  # seconds


def abandon(give_up: Callable[[], None], what: object, error: BaseException | None) -> None:
    """Abandon a handle by `give_up`, which waits for the operations that this rank has started with the others.

    Without threads in MPI, between nodes, it also waits for their next collective call.  They may be waiting for this
    rank in a call outside of Plait, which would last for ever. Therefore the error is printed after some seconds;
    otherwise it would be printed only after this function has returned.
    """
    timer = threading.Timer(PATIENCE, _show, [what, error])
    timer.daemon = True
    timer.start()
    try:
        give_up()
    finally:
        timer.cancel()


def _show(what: object, error: BaseException | None) -> None:
    traceback_text = "".join(traceback.format_exception(error)) if error is not None else ""
    sys.stderr.write(
        f"plait: a rank has given up {what!r} because of the error below, and waits until the others make a "
        f"collective call of Plait and hear of it; if they wait for this rank in MPI, end the job\n{traceback_text}"
    )
    sys.stderr.flush()
