"""The files of `strace -ff`, one for each thread, read as one trace."""

from __future__ import annotations

import contextlib
import heapq
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plait._base.errors import ArgumentError
from plait.trace._compressed import failure, find_opener, unpacking

_EPOCH = re.compile(rb"\d+\.\d+")
_DAY = re.compile(rb"(\d\d):(\d\d):(\d\d(?:\.\d+)?)")
_NUMBER = re.compile(r"\.(\d+)(?:\.gz|\.zst)?$")
_LONGEST = 1 << 20
_CHUNK = 1 << 16
_TAIL = 1 << 14
_SECONDS = 86400.0
# Times below this number of seconds are not times since 1970, but times since the previous line, as of option -r.
_EARLIEST = 1e8


class _Time(NamedTuple):
    value: float
    of_day: bool


class _File(NamedTuple):
    path: str
    """The file with its lines, decompressed if necessary."""
    number: bytes
    shift: float
    """Seconds to add to its times: a day if the trace crosses midnight and the file begins after it."""


def _parse_time(line: bytes) -> _Time | None:
    word = line.lstrip().split(b" ", 1)[0]
    day = _DAY.fullmatch(word)
    if day:
        return _Time(int(day[1]) * 3600 + int(day[2]) * 60 + float(day[3]), True)
    return _Time(float(word), False) if _EPOCH.fullmatch(word) else None


def _chunks(path: str) -> Iterator[bytes]:
    """Yield the bytes of a file. It is opened for each read, because strace -ff makes more files than may be open."""
    offset = 0
    while True:
        with open(path, "rb", buffering=0) as file:
            file.seek(offset)
            chunk = file.read(_CHUNK)
        if not chunk:
            return
        offset += len(chunk)
        yield chunk


def _lines(path: str) -> Iterator[bytes]:
    """Yield lines with their line ends; the last may have none.  A too long line is cut, and the reader counts it."""
    rest = b""
    for chunk in _chunks(path):
        if len(rest) >= _LONGEST:
            end = chunk.find(b"\n")
            if end < 0:
                continue
            yield rest[:_LONGEST] + b"\n"
            rest, chunk = b"", chunk[end + 1 :]
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield line + b"\n"
    if rest:
        yield rest[:_LONGEST]


def _first_and_last(path: str) -> tuple[_Time | None, _Time | None]:
    """Return the times of the first and the last line."""
    first = _parse_time(next(_lines(path), b""))
    with open(path, "rb", buffering=0) as file:
        file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
        tail = file.read(_TAIL)
    times = [time for line in tail.split(b"\n")[:-1] if (time := _parse_time(line))]
    return first, times[-1] if times else first


def _start(spans: Sequence[tuple[float, float]]) -> float:
    """Return the time of day at which the trace began: the end of the longest interval of the day without any line."""
    parts = [(first, last) if first <= last else (first, last + _SECONDS) for first, last in spans]
    parts.sort()
    begin, longest, covered = parts[0][0], -1.0, parts[0][1]
    for first, last in parts[1:]:
        if first - covered > longest:
            begin, longest = first, first - covered
        covered = max(covered, last)
    return begin if longest > parts[0][0] + _SECONDS - covered else parts[0][0]


class StraceFiles:
    """The lines of several files, merged by time and prefixed by thread numbers, which can be read from ``path``."""

    def __init__(self, paths: Sequence[str]) -> None:
        """Start a thread that merges the files."""
        self._error: Exception | None = None
        self._cut: list[str] = []
        self._folder = tempfile.TemporaryDirectory(prefix="plait-import-")
        try:
            files = self._looked_at(paths)
            self._end, feed = os.pipe()
        except BaseException:
            self._folder.cleanup()
            raise
        self.path = f"/dev/fd/{self._end}"
        self._thread = threading.Thread(target=self._feed, args=(files, feed), name="plait-merge", daemon=True)
        self._thread.start()

    def _looked_at(self, paths: Sequence[str]) -> list[_File]:
        spans_of_files: list[tuple[str, bytes, _Time, _Time]] = []
        for index, path in enumerate(paths):
            number = _NUMBER.search(path)
            if number is None:
                raise ArgumentError(f"{path} does not end in the number of a thread, as files of strace -ff do")
            plain = self._unpacked(path, index)
            try:
                first, last = _first_and_last(plain)
                empty = os.stat(plain).st_size == 0
            except OSError as error:
                raise failure(f"cannot read {path}: {error.strerror}", error) from error
            if empty:
                continue
            if first is None or last is None:
                raise ArgumentError(f"{path} has no times to put its lines in order by; let strace run with -ttt")
            if not first.of_day and first.value < _EARLIEST:
                raise ArgumentError(
                    f"{path} has times since the line before (-r), which do not tell the order of lines in several "
                    "files; let strace run with -ttt"
                )
            spans_of_files.append((plain, number[1].encode(), first, last))
        spans = [(first.value, last.value) for _, _, first, last in spans_of_files if first.of_day]
        begin = _start(spans) if spans else 0.0
        return [
            _File(path, number, _SECONDS if first.of_day and first.value < begin else 0.0)
            for path, number, first, _ in spans_of_files
        ]

    def _unpacked(self, path: str, index: int) -> str:
        opener = find_opener(path)
        if opener is None:
            return path
        plain = os.path.join(self._folder.name, str(index))
        with unpacking(path), opener(path) as packed, open(plain, "wb") as file:
            shutil.copyfileobj(packed, file, 1 << 18)
        return plain

    def _timed(self, file: _File) -> Iterator[tuple[float, bytes]]:
        time = last = 0.0
        shift = file.shift
        for line in _lines(file.path):
            time_of_line = _parse_time(line)
            if time_of_line is not None:
                if time_of_line.of_day and time_of_line.value < last - _SECONDS / 2:  # past midnight
                    shift += _SECONDS
                last = time_of_line.value
                time = last + shift
            if not line.endswith(b"\n"):
                self._cut.append(file.path)
                line += b"\n"
            yield time, file.number + b" " + line

    def _feed(self, files: Sequence[_File], feed: int) -> None:
        # Errors are recorded before the pipe ends, so that a reader at the end of the pipe can see them.
        with contextlib.suppress(BrokenPipeError), open(feed, "wb") as pipe:
            try:
                for _, line in heapq.merge(*(self._timed(file) for file in files), key=lambda entry: entry[0]):
                    pipe.write(line)
            except BrokenPipeError:  # the reader has closed the pipe
                raise
            except Exception as error:
                self._error = error

    def opened(self) -> None:
        """Close this end of the pipe; to be called after the path was opened, or could not be."""
        end, self._end = self._end, -1
        if end >= 0:
            os.close(end)

    def join(self) -> list[str]:
        """Wait until everything was read, or the reader has closed the pipe; return sentences about what is missing.

        Raises:
            plait.StoreError: a file could not be read to its end.
        """
        self._thread.join()
        if self._error is not None:
            reason = self._error.strerror if isinstance(self._error, OSError) else self._error
            name = getattr(self._error, "filename", None) or "the files of strace -ff"
            raise failure(f"cannot read {name}: {reason}", self._error) from self._error
        return [f"{path} ends within a line" for path in self._cut]

    def close(self) -> None:
        """Remove the decompressed files; to be called when the reader is closed."""
        self._thread.join()
        self._folder.cleanup()
