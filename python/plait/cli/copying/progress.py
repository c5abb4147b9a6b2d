"""The progress bar of `plait copy`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from plait.cli.support import messages


@contextlib.contextmanager
def progress_bar(*, is_total_known: bool, enabled: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal; yields a function of the copied bytes and the total bytes.

    is_total_known  True if the total number of bytes is known
    enabled         False on ranks that show nothing
    """
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    console = messages()
    bar = Progress(
        BarColumn(30),
        *([TextColumn("{task.percentage:>3.0f} %")] if is_total_known else []),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeElapsedColumn(),
        *([TimeRemainingColumn()] if is_total_known else []),
        console=console,
        transient=True,
        disable=not (enabled and console.is_terminal),
    )
    with bar:
        task = bar.add_task("", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total if is_total_known else None)

        yield progress
