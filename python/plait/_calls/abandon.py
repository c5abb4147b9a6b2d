"""Abandons a handle because of an exception that the other ranks may not notice soon."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable

_PRINT_AFTER = 3.0  # seconds


def abandon(abandon_handle: Callable[[], None], what: object, error: BaseException | None) -> None:
    """Abandon a handle by `abandon_handle`, which waits for the operations that this rank has started with the others.

    Between nodes, if MPI permits no threads, `abandon_handle` also waits for the next collective call of the other
    ranks. They may be waiting for this rank in a call outside of Plait, which would last for ever. Therefore the error
    is printed after some seconds; otherwise it would be printed only after this function has returned.
    """
    timer = threading.Timer(_PRINT_AFTER, _print_error, [what, error])
    timer.daemon = True
    timer.start()
    try:
        abandon_handle()
    finally:
        timer.cancel()


def _print_error(what: object, error: BaseException | None) -> None:
    traceback_text = "".join(traceback.format_exception(error)) if error is not None else ""
    sys.stderr.write(
        f"plait: a rank has given up {what!r} because of the error below, and waits until the others make a "
        f"collective call of Plait and hear of it; if they wait for this rank in MPI, end the job\n{traceback_text}"
    )
    sys.stderr.flush()
