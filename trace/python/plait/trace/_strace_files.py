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
from plait.trace._compressed import decompression_errors, find_opener, make_store_error

_EPOCH = re.compile(rb"\d+\.\d+")
_TIME_OF_DAY = re.compile(rb"(\d\d):(\d\d):(\d\d(?:\.\d+)?)")
_THREAD_ENDING = re.compile(r"\.(\d+)(?:\.gz|\.zst)?$")
_MAX_LINE = 1 << 20  # bytes
_CHUNK = 1 << 16  # bytes of a read
_TAIL = 1 << 14  # bytes at the end of a file in which the time of the last line is searched
_DAY_SECONDS = 86400.0
# Times below this number of seconds are not times since 1970, but times since the previous line (strace -r).
_MIN_EPOCH = 1e8


class _Time(NamedTuple):
    """The time of a line."""

    value: float
    """Seconds since midnight, or since 1970."""
    of_day: bool
    """True for seconds since midnight."""


class _File(NamedTuple):
    """The file of one thread."""

    path: str
    """The file with its lines, decompressed if necessary."""
    number: bytes
    """The number of the thread, from the ending of the name."""
    shift: float
    """Seconds to add to its times: a day if the trace crosses midnight and the file begins after it."""


def _parse_time(line: bytes) -> _Time | None:
    word = line.lstrip().split(b" ", 1)[0]
    day = _TIME_OF_DAY.fullmatch(word)
    if day:
        return _Time(int(day[1]) * 3600 + int(day[2]) * 60 + float(day[3]), True)
    return _Time(float(word), False) if _EPOCH.fullmatch(word) else None


def _read_chunks(path: str) -> Iterator[bytes]:
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


def _read_lines(path: str) -> Iterator[bytes]:
    """Yield lines with their line ends; the last may have none.  A too long line is cut, and the reader counts it."""
    incomplete = b""
    for chunk in _read_chunks(path):
        if len(incomplete) >= _MAX_LINE:
            end = chunk.find(b"\n")
            if end < 0:
                continue
            yield incomplete[:_MAX_LINE] + b"\n"
            incomplete, chunk = b"", chunk[end + 1 :]
        lines = (incomplete + chunk).split(b"\n")
        incomplete = lines.pop()
        for line in lines:
            yield line + b"\n"
    if incomplete:
        yield incomplete[:_MAX_LINE]


def _find_time_span(path: str) -> tuple[_Time | None, _Time | None]:
    """Return the times of the first and the last line."""
    first = _parse_time(next(_read_lines(path), b""))
    with open(path, "rb", buffering=0) as file:
        file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
        tail = file.read(_TAIL)
    times = [time for line in tail.split(b"\n")[:-1] if (time := _parse_time(line))]
    return first, times[-1] if times else first


def _find_start(spans: Sequence[tuple[float, float]]) -> float:
    """Return the time of day at which the trace began: the end of the longest interval of the day without any line."""
    intervals = [
        (begin_of_file, end_of_file) if begin_of_file <= end_of_file else (begin_of_file, end_of_file + _DAY_SECONDS)
        for begin_of_file, end_of_file in spans
    ]
    intervals.sort()
    start, longest_gap, covered_until = intervals[0][0], -1.0, intervals[0][1]
    for begin_of_file, end_of_file in intervals[1:]:
        if begin_of_file - covered_until > longest_gap:
            start, longest_gap = begin_of_file, begin_of_file - covered_until
        covered_until = max(covered_until, end_of_file)
    return start if longest_gap > intervals[0][0] + _DAY_SECONDS - covered_until else intervals[0][0]


class StraceFiles:
    """The lines of several files, merged by time and prefixed by thread numbers, which can be read from ``path``."""

    def __init__(self, paths: Sequence[str]) -> None:
        """Start a thread that merges the files."""
        self._error: Exception | None = None
        self._truncated_files: list[str] = []
        self._folder = tempfile.TemporaryDirectory(prefix="plait-import-")
        try:
            files = self._order_files(paths)
            self._read_end, write_end = os.pipe()
        except BaseException:
            self._folder.cleanup()
            raise
        self.path = f"/dev/fd/{self._read_end}"
        self._thread = threading.Thread(target=self._feed, args=(files, write_end), name="plait-merge", daemon=True)
        self._thread.start()

    def _order_files(self, paths: Sequence[str]) -> list[_File]:
        """Return the files with lines, each with the shift of its times.  errors  ArgumentError, StoreError"""
        time_spans: list[tuple[str, bytes, _Time, _Time]] = []
        for index, path in enumerate(paths):
            number = _THREAD_ENDING.search(path)
            if number is None:
                raise ArgumentError(f"{path} does not end in the number of a thread, as files of strace -ff do")
            text_path = self._decompress(path, index)
            try:
                first, last = _find_time_span(text_path)
                is_empty = os.stat(text_path).st_size == 0
            except OSError as error:
                raise make_store_error(f"cannot read {path}: {error.strerror}", error) from error
            if is_empty:
                continue
            if first is None or last is None:
                raise ArgumentError(f"{path} has no times to put its lines in order by; let strace run with -ttt")
            if not first.of_day and first.value < _MIN_EPOCH:
                raise ArgumentError(
                    f"{path} has times since the line before (-r), which do not tell the order of lines in several "
                    "files; let strace run with -ttt"
                )
            time_spans.append((text_path, number[1].encode(), first, last))
        spans = [(first.value, last.value) for _, _, first, last in time_spans if first.of_day]
        begin = _find_start(spans) if spans else 0.0
        return [
            _File(path, number, _DAY_SECONDS if first.of_day and first.value < begin else 0.0)
            for path, number, first, _ in time_spans
        ]

    def _decompress(self, path: str, index: int) -> str:
        """Return the path of the lines: the file itself, or a decompressed copy in the temporary folder."""
        opener = find_opener(path)
        if opener is None:
            return path
        text_path = os.path.join(self._folder.name, str(index))
        with decompression_errors(path), opener(path) as compressed, open(text_path, "wb") as file:
            shutil.copyfileobj(compressed, file, 1 << 18)
        return text_path

    def _lines_with_times(self, file: _File) -> Iterator[tuple[float, bytes]]:
        """Yield the lines of a file, prefixed by the thread, each with its time or that of the line before."""
        time = last = 0.0
        shift = file.shift
        for line in _read_lines(file.path):
            line_time = _parse_time(line)
            if line_time is not None:
                if line_time.of_day and line_time.value < last - _DAY_SECONDS / 2:  # past midnight
                    shift += _DAY_SECONDS
                last = line_time.value
                time = last + shift
            if not line.endswith(b"\n"):
                self._truncated_files.append(file.path)
                line += b"\n"
            yield time, file.number + b" " + line

    def _feed(self, files: Sequence[_File], write_end: int) -> None:
        # Errors are recorded before the pipe ends, so that a reader at the end of the pipe can see them.
        with contextlib.suppress(BrokenPipeError), open(write_end, "wb") as pipe:
            try:
                for _, line in heapq.merge(
                    *(self._lines_with_times(file) for file in files), key=lambda entry: entry[0]
                ):
                    pipe.write(line)
            except BrokenPipeError:  # the reader has closed the pipe
                raise
            except Exception as error:
                self._error = error

    def close_pipe(self) -> None:
        """Close the reading end of the pipe; call it after opening ``path``, whether or not that succeeded."""
        end, self._read_end = self._read_end, -1
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
            raise make_store_error(f"cannot read {name}: {reason}", self._error) from self._error
        return [f"{path} ends within a line" for path in self._truncated_files]

    def close(self) -> None:
        """Remove the decompressed files; to be called when the reader is closed."""
        self._thread.join()
        self._folder.cleanup()
