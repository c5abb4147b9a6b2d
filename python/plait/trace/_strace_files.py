"""The files of `strace -ff`, one a thread, read as one trace."""

from __future__ import annotations

import contextlib
import heapq
import os
import re
import threading
from collections.abc import Iterator, Sequence

from plait._errors import ArgumentError

_EPOCH = re.compile(rb"\d+\.\d+")
_DAY = re.compile(rb"(\d\d):(\d\d):(\d\d(?:\.\d+)?)")
_NUMBER = re.compile(r"\.(\d+)$")
_LONGEST = 1 << 20


def _time_of(line: bytes) -> float | None:
    word = line.lstrip().split(b" ", 1)[0]
    day = _DAY.fullmatch(word)
    if day:
        return int(day[1]) * 3600 + int(day[2]) * 60 + float(day[3])
    return float(word) if _EPOCH.fullmatch(word) else None


def _lines(path: str) -> Iterator[tuple[float, bytes]]:
    number = _NUMBER.search(path)
    if number is None:
        raise ArgumentError(f"{path} does not end in the number of a thread, as files of strace -ff do")
    time = 0.0
    with open(path, "rb") as file:
        while line := file.readline(_LONGEST):
            found = _time_of(line)
            time = time if found is None else found
            yield time, number[1].encode() + b" " + line


class StraceFiles:
    """The lines of several files in the order of their times, each with its thread's number; read from ``path``."""

    def __init__(self, paths: Sequence[str]) -> None:
        """Begins to merge them in a thread."""
        for path in paths:
            first = next(_lines(path), None)
            if first is not None and _time_of(first[1].split(b" ", 1)[1]) is None:
                raise ArgumentError(f"{path} has no times to put its lines in order by; let strace run with -ttt")
        self._end, feed = os.pipe()
        self.path = f"/dev/fd/{self._end}"
        self._thread = threading.Thread(target=self._feed, args=(paths, feed), name="plait-merge", daemon=True)
        self._thread.start()

    def _feed(self, paths: Sequence[str], feed: int) -> None:
        with contextlib.suppress(OSError), open(feed, "wb") as pipe:
            for _, line in heapq.merge(*(_lines(path) for path in paths), key=lambda one: one[0]):
                pipe.write(line)

    def opened(self) -> None:
        """To be called when the path was opened, or could not be."""
        with contextlib.suppress(OSError):
            os.close(self._end)

    def join(self) -> None:
        """Waits until all was read, or nobody reads on."""
        self._thread.join()
