"""Runs a copy: in this process, as one of the ranks of mpiexec, or in ranks that this process starts."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import click

import plait
from plait._arguments.texts import dtype_text
from plait._calls.comm import LAUNCHED
from plait._file.arrays_in import split_name
from plait._file.location import comes_in_steps, locate_new
from plait.cli.copying.stopping import ended_in_time
from plait.launch import LaunchError, RankProgram, require_mpi

Progress = Callable[[int, int], None]

# Maximum seconds between two reports of the ranks: copying a window, or making a large file durable on a slow disk, may
# take long. The limit may be generous, because a rank that fails ends, which is noticed at once.
_MAX_WAIT = 24 * 3600.0
_STOP_SECONDS = 1.0  # seconds that the ranks have to end after a signal
_PIPE_STOP_SECONDS = 60.0  # the same if pipes are part of the copy, because their other ends must be notified
_NOTHING_WRITTEN = "the copy was stopped; nothing was written"
_STOPPED_IN_STEPS = "the copy was stopped; the files that were complete are kept"
_RESUMABLE = "the copy was stopped; what was done is kept, and --resume goes on with it"
_ENDED = "the copy was stopped by ending its ranks; the target is either the old one or the complete new one"
_ENDED_IN_HIERARCHY = (
    "the copy was stopped by ending its ranks; arrays that were complete are in the target, and the others are as they "
    "were"
)
_OLD_OR_NEW = "the copy was stopped; the target is as it was, or the complete new one"


class StoppedError(Exception):
    """The copy was stopped by a signal."""


class EndedError(StoppedError):
    """The copy was stopped by ending its ranks, which did not end by themselves."""


@dataclass(frozen=True)
class CopySummary:
    """The totals of a finished copy."""

    bytes: int
    seconds: float
    rate: float
    windows: int
    ranks: int
    shape: list[int]
    dtype: str
    steps: int
    resumed: int = 0
    plan: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)


def to_summary(result: plait.CopyResult) -> CopySummary:
    """Return the result of a copy as plain values."""
    return CopySummary(
        result.bytes,
        result.seconds,
        result.rate,
        result.windows,
        result.ranks,
        list(result.shape),
        dtype_text(result.dtype),
        result.steps,
        result.resumed,
        [{**asdict(array), "dtype": dtype_text(array.dtype)} for array in result.plan],
        [asdict(array) for array in result.skipped],
    )


def find_world() -> Any:
    """Return the communicator of the ranks that were started together; None if this process was started alone."""
    if not any(name in os.environ for name in ("PLAIT_SIZE", *LAUNCHED)):
        return None
    comm = plait.world()
    return comm if comm.size > 1 else None


class _StopRequest:
    """Records that a signal has asked this process to end."""

    def __init__(self, interrupts_waits: bool, message: str) -> None:
        """Begin without a request; the arguments are those of _recording_signals()."""
        self._interrupts_waits, self._message = interrupts_waits, message
        self._is_requested = False
        self._is_waiting = False  # True while this process waits for other processes

    def handle_signal(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: record it, or raise if this process waits for others."""
        if self._interrupts_waits and self._is_waiting:
            raise KeyboardInterrupt
        if self._is_requested and self._is_waiting:
            raise StoppedError(_ENDED)
        self._is_requested = True

    def check(self) -> None:
        """Raise StoppedError if a signal has asked this process to end."""
        if self._is_requested:
            raise StoppedError(self._message)

    @contextlib.contextmanager
    def mark_waiting(self) -> Iterator[None]:
        """Mark that this process waits for others, which may hang: a second signal then raises StoppedError at once."""
        self._is_waiting = True
        try:
            yield
        finally:
            self._is_waiting = False


@contextlib.contextmanager
def _recording_signals(interrupts_waits: bool = False, message: str = _NOTHING_WRITTEN) -> Iterator[_StopRequest]:
    """Record signals that ask this process to end, so that it can end between windows, with its files consistent.

    message  the message of a copy that was interrupted
    interrupts_waits  True to raise KeyboardInterrupt in a wait for another program, because such a wait may be endless
    """
    stop_request = _StopRequest(interrupts_waits, message)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handled = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop_request.handle_signal) for number in handled}
    try:
        yield stop_request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def copy_here(job: dict[str, Any], comm: Any, progress: Progress) -> CopySummary:
    """Copy in this process, or as one of the ranks of `comm`.  errors  plait.Error, StoppedError"""
    waits = has_steps(job) or job["target"] == "-"
    try:
        with (
            _recording_signals(interrupts_waits=waits, message=make_stopped_text(job)) as stop_request,
            stop_request.mark_waiting() if waits else contextlib.nullcontext(),
        ):

            def advance(done: int, total: int) -> None:
                progress(done, total)
                stop_request.check()

            with standard_streams(job) as arguments, printing_warnings():
                # A rank of MPI must not end by itself, because the others would wait for it: the process that has
                # started the ranks ends all of them.
                ends = comm is None and not waits
                with (
                    ended_in_time(
                        [job["target"]],
                        _RESUMABLE if job.get("resume") else _OLD_OR_NEW,
                        resumed=bool(job.get("resume")),
                    )
                    if ends
                    else contextlib.nullcontext()
                ):
                    return to_summary(plait.copy(**arguments, comm=comm, progress=advance))
    except StoppedError as stopped:
        raise StoppedError(add_notes(stopped)) from stopped
    except KeyboardInterrupt as stopped:
        raise StoppedError(_STOPPED_IN_STEPS) from stopped


@contextlib.contextmanager
def printing_warnings() -> Iterator[None]:
    """Print the warnings of a copy in the style of the commands."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: _print_warning(str(message))
        yield


def _print_warning(text: str) -> None:
    click.echo(f"plait: warning: {text}", err=True)


def make_stopped_text(job: dict[str, Any]) -> str:
    """Return the message of a copy that ended by itself after a signal."""
    return _RESUMABLE if job.get("resume") else _NOTHING_WRITTEN


def add_notes(error: BaseException) -> str:
    """Return the text of an error; for a stopped copy with the notes about files that it has replaced."""
    notes = getattr(error, "__notes__", [])
    return "; ".join(["the copy was stopped", *notes]) if isinstance(error, StoppedError) and notes else str(error)


def _make_ended_text(job: dict[str, Any]) -> str:
    """Return the message of a copy that begins now, if its ranks will have to be ended."""
    if job.get("resume"):
        return _RESUMABLE
    with contextlib.suppress(plait.Error, TypeError):  # the copy reports an invalid name
        location = locate_new(job["target"])
        if location.adds_arrays and not split_name(job["target"])[1] and os.path.exists(location.path):
            return _ENDED_IN_HIERARCHY
    return _ENDED


def has_steps(job: dict[str, Any]) -> bool:
    """Return True if a copy may have several steps, or may wait for steps of another program."""
    sources = job["source"] if isinstance(job["source"], list) else [job["source"]]
    return (len(sources) > 1 and "concat" not in job) or any(
        name == "-" or comes_in_steps(name) for name in [*sources, job["target"]]
    )


@contextlib.contextmanager
def standard_streams(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Replace the name - in a job by the standard input or output."""
    with contextlib.ExitStack() as opened:
        arguments = dict(job)
        for end, number, mode in (("source", 0, "rb"), ("target", 1, "wb")):
            if arguments[end] == "-":
                arguments[end] = opened.enter_context(open(number, mode, buffering=0, closefd=False))
        yield arguments


def copy_by_ranks(job: dict[str, Any], ranks: int, progress: Progress) -> CopySummary:
    """Start ranks that copy.  errors  plait.Error: also the errors of the ranks.  StoppedError"""
    require_mpi()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="plait-copy-") as name,
            _recording_signals(interrupts_waits=True) as stop_request,
        ):
            return _run_ranks(job, Path(name), ranks, (progress, stop_request))
    except EndedError:
        if not has_steps(job):
            from plait._copying.leftovers import remove_leftovers

            remove_leftovers(job["target"])
        raise


def _run_ranks(job: dict[str, Any], folder: Path, ranks: int, listening: tuple[Progress, _StopRequest]) -> CopySummary:
    progress, stop_request = listening
    stop = folder / "stop"
    ended_message = _make_ended_text(job)
    path = folder / "job.json"
    path.write_text(json.dumps({**job, "stop": str(stop)}), encoding="utf-8")
    with RankProgram(ranks, "plait.cli.copying.ranks", [str(path)]) as program:
        try:
            return _follow_ranks(program, progress, stop_request)
        except (StoppedError, KeyboardInterrupt):
            # The ranks remove their output, unless they had finished before they noticed the request.
            stop.touch()
            try:
                return _follow_ranks(
                    program, progress, stop_request, _PIPE_STOP_SECONDS if has_steps(job) else _STOP_SECONDS
                )
            except (LaunchError, StoppedError, KeyboardInterrupt) as error:
                raise EndedError(ended_message) from error
            except plait.Error as error:  # an error that the ranks have reported
                raise StoppedError(_STOPPED_IN_STEPS if has_steps(job) else str(error)) from error


def _follow_ranks(
    program: RankProgram, progress: Progress, stop_request: _StopRequest, stop_seconds: float | None = None
) -> CopySummary:
    """Pass on the reports of the ranks until they end, and return their result.

    stop_seconds  the maximum wait for a report after the ranks have been asked to stop; None before that
    """
    result: CopySummary | None = None
    with stop_request.mark_waiting():
        for event in program.events(_MAX_WAIT if stop_seconds is None else stop_seconds):
            if event["event"] == "progress":
                progress(event["done"], event["total"])
                if stop_seconds is None:
                    stop_request.check()
            elif event["event"] == "warning":
                _print_warning(event["text"])
            elif event["event"] == "failed":
                raise (plait.ArgumentError if event["argument"] else plait.StoreError)(event["text"])
            elif event["event"] == "copied":
                result = CopySummary(**{key: value for key, value in event.items() if key != "event"})
    if result is None:
        raise LaunchError("the ranks ended without a result")
    return result
