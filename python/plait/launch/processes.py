"""Starts processes that know each other without MPI, passes signals on to them, and ends all if one fails."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import math
import os
import resource
import secrets
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from plait import _core
from plait.launch.variables import JOB, RANK, SIZE

#: Seconds between SIGTERM, which asks a rank to end, and SIGKILL, which ends it.
GRACE = 5.0

_FORWARDED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_SIGNAL_RECORD = struct.Struct("=ii")  # a signal as _core.watch_signals() reports it: its number and its si_code
_MAX_SLEEP = 1.0  # maximum seconds between checks of the ranks, whether or not a signal arrives
_OUTPUT, _ERRORS = 1, 2  # file descriptors, which are written without Python's buffers
_SI_KERNEL = 0x80  # si_code of signals that a terminal sends
_PR_SET_PDEATHSIG = 1
_SAME_KEY_SECONDS = 0.1  # seconds within which several interrupts count as one
_MAX_OUTPUT_WAIT = 2.0  # seconds to wait for output after the ranks have ended
_OTHER_DESCRIPTORS = 64

Remark = Callable[[str], None]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # only two of the system's real-time signals have names
        return f"signal {number}"


@dataclass(frozen=True)
class Failure:
    """A rank that ended with an error or by a signal."""

    rank: int
    process: int
    code: int

    @property
    def status(self) -> int:
        """The exit status to report: the rank's own, or 128 plus the number of the signal that ended it."""
        return self.code if self.code > 0 else 128 - self.code

    def __str__(self) -> str:
        """Return a sentence that describes how the rank ended."""
        by = "" if self.code > 0 else _signal_name(-self.code)
        how = f"was ended by {by}" if by else f"ended with status {self.code}"
        return f"rank {self.rank} (process {self.process}) {how}"


def _poll_status(child: subprocess.Popen[bytes]) -> int | None:
    """Return a child's exit status, or minus the signal that ended it; None while it runs. The child is not reaped."""
    if child.returncode is not None:
        return child.returncode
    try:
        result = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # other code has waited for it: it has ended, with an unknown status
        return child.poll()
    if result is None:
        return None
    return result.si_status if result.si_code == os.CLD_EXITED else -result.si_status


def _allow_descriptors(count: int) -> None:
    """Raise the limit of open files of this process to `count`. Raises OSError if the system does not permit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= count:
        return
    if hard != resource.RLIM_INFINITY and hard < count:
        raise OSError(
            errno.EMFILE,
            f"{count} open files are needed for so many ranks, and this system allows {hard}; start fewer ranks, leave "
            "--label out, or have the limit raised (ulimit -n)",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def _write(target: int, text: bytes) -> None:
    """Write the whole text. The parent of this process may have made the descriptor nonblocking."""
    while text:
        try:
            text = text[os.write(target, text) :]
        except BlockingIOError:
            poller = select.poll()
            poller.register(target, select.POLLOUT)
            poller.poll()


class _Signals:
    """The signals of this process, whichever of its threads receives them: libraries of NumPy start threads of their
    own.
    """

    def __init__(self) -> None:
        """Take over the signals, including those that are blocked or ignored."""
        # If the parent of this process ignores SIGTSTP, this process leaves that signal alone.
        stops = () if signal.getsignal(signal.SIGTSTP) is signal.SIG_IGN else (signal.SIGTSTP,)
        self.numbers = {*_FORWARDED_SIGNALS, *stops, signal.SIGCHLD}
        self._ignored = [number for number in _FORWARDED_SIGNALS if signal.getsignal(number) is signal.SIG_IGN]
        self._pipe = _core.watch_signals(sorted(self.numbers))
        self._mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, self.numbers)
        self._poll = select.poll()
        self._poll.register(self._pipe, select.POLLIN)

    @contextlib.contextmanager
    def blocked(self) -> Iterator[None]:
        """Block the signals of this thread: a child must receive none before it has called restore_in_child()."""
        signal.pthread_sigmask(signal.SIG_BLOCK, self.numbers)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, self.numbers)

    def restore_in_child(self) -> None:
        """Restore in a child the signal mask and the ignored signals of this process's start, but handle SIGCHLD by
        default.
        """
        for number in self.numbers:
            signal.signal(number, signal.SIG_IGN if number in self._ignored else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def wait(self, seconds: float) -> list[tuple[int, int]]:
        """Return the signals that have arrived, each with its si_code, as soon as there is one."""
        if not self._poll.poll(1000 * seconds):
            return []
        with contextlib.suppress(BlockingIOError):
            return list(_SIGNAL_RECORD.iter_unpack(os.read(self._pipe, 64 * _SIGNAL_RECORD.size)))
        return []

    def close(self) -> None:
        """Restore the former handling of signals."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        _core.leave_signals()


class Ranks:
    """The ranks of one program, which are children of this process. For its main thread, and one at a time."""

    def __init__(self, command: Sequence[str], ranks: int, *, label: bool = False) -> None:
        """Start them. Raises OSError if the program cannot be started: no process is left then."""
        _core.remove_job_leftovers()
        if label:
            _allow_descriptors(_OTHER_DESCRIPTORS + 2 * ranks)
        self._children: list[subprocess.Popen[bytes]] = []
        self._failure: Failure | None = None
        self._kill_at: float | None = None
        self._interrupted_at: float | None = None
        self._readers: list[threading.Thread] = []
        self._output = threading.Lock()
        # A process that reads a terminal must be in the process group that owns it.
        self._first_keeps_terminal = sys.stdin is not None and sys.stdin.isatty()
        self._signals = _Signals()
        variables = {**os.environ, JOB: f"run-{os.getpid()}-{secrets.token_hex(8)}", SIZE: str(ranks)}
        try:
            for rank in range(ranks):
                with self._signals.blocked():
                    self._children.append(self._start(command, rank, {**variables, RANK: str(rank)}, label))
        except BaseException:
            self._end_all(0.0)
            self.__exit__()
            raise
        for rank, child in enumerate(self._children):
            for stream, target in ((child.stdout, _OUTPUT), (child.stderr, _ERRORS)):
                if stream is not None:
                    reader = threading.Thread(target=self._copy_output, args=(rank, stream, target), daemon=True)
                    reader.start()
                    self._readers.append(reader)

    def _start(
        self, command: Sequence[str], rank: int, variables: dict[str, str], label: bool
    ) -> subprocess.Popen[bytes]:
        parent = os.getpid()
        keeps_terminal = self._keeps_terminal(rank)
        libc = ctypes.CDLL(None)

        def prepare_child() -> None:
            if not keeps_terminal:
                os.setpgid(0, 0)
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)  # the rank ends even if its parent is killed by SIGKILL
            if os.getppid() != parent:
                os._exit(1)
            self._signals.restore_in_child()

        return subprocess.Popen(
            command,
            env=variables,
            stdin=None if rank == 0 else subprocess.DEVNULL,
            stdout=subprocess.PIPE if label else None,
            stderr=subprocess.PIPE if label else None,
            preexec_fn=prepare_child,
        )

    def _keeps_terminal(self, rank: int) -> bool:
        return rank == 0 and self._first_keeps_terminal

    def _copy_output(self, rank: int, stream: IO[bytes], target: int) -> None:
        """Copy lines, each with the rank as a prefix. If the reader has closed the output, the rank gets SIGPIPE or
        EPIPE.
        """
        prefix = f"[{rank}] ".encode()
        with stream, contextlib.suppress(OSError):
            for line in stream:
                labelled = prefix + line if line.endswith(b"\n") else prefix + line + b"\n"
                with self._output:
                    _write(target, labelled)

    def wait(self, remark: Remark) -> int:
        """Wait for all ranks; return the exit status of the first one that failed, or 0.

        Signals are forwarded to all ranks. If a rank fails, or Ctrl-C is pressed twice, the other ranks get SIGTERM,
        and after some seconds SIGKILL.
        """
        while self._is_any_running():
            for number, code in self._signals.wait(self._seconds_until_check()):
                self._handle_signal(number, code, remark)
            if self._kill_at is not None and time.monotonic() >= self._kill_at:
                self._send_signal(signal.SIGKILL)
                self._kill_at = math.inf
            if self._failure is None and (failure := self._find_failure()) is not None and self._is_any_running():
                self._failure = failure
                remark(str(failure) if self._kill_at is not None else f"{failure}; the other ranks are ended")
                self._ask_to_end()
        if self._failure is None and (failure := self._find_failure()) is not None:
            self._failure = failure
            remark(str(failure))
        deadline = time.monotonic() + _MAX_OUTPUT_WAIT
        for reader in self._readers:
            reader.join(max(0.0, deadline - time.monotonic()))
        return 0 if self._failure is None else self._failure.status

    def _seconds_until_check(self) -> float:
        remaining = _MAX_SLEEP if self._kill_at is None else self._kill_at - time.monotonic()
        return min(max(remaining, 0.0), _MAX_SLEEP)

    def _handle_signal(self, number: int, code: int, remark: Remark) -> None:
        """Act on a signal. SIGCHLD needs no action, because the state of the ranks is checked after every signal."""
        if number == signal.SIGTSTP:
            self._suspend()
        elif number != signal.SIGCHLD:
            self._send_signal(number, by_terminal=code == _SI_KERNEL)
        if number == signal.SIGINT and self._is_further_interrupt() and self._kill_at is None:
            remark("interrupted again; the ranks are ended")
            self._ask_to_end()

    def _is_further_interrupt(self) -> bool:
        """Return True if this is a further Ctrl-C. A second SIGINT within 0.1 seconds is not one: `timeout` and others
        signal a process and then its whole group.
        """
        now = time.monotonic()
        is_further = self._interrupted_at is not None and now - self._interrupted_at > _SAME_KEY_SECONDS
        self._interrupted_at = now
        return is_further

    def _ask_to_end(self) -> None:
        self._send_signal(signal.SIGTERM)
        self._send_signal(signal.SIGCONT)
        if self._kill_at is None:
            self._kill_at = time.monotonic() + GRACE

    def _is_any_running(self) -> bool:
        return any(_poll_status(child) is None for child in self._children)

    def _find_failure(self) -> Failure | None:
        codes = [(rank, child.pid, _poll_status(child)) for rank, child in enumerate(self._children)]
        failures = [Failure(rank, process, code) for rank, process, code in codes if code]
        # If several ranks failed at once, one that a signal ended is the cause; the others may have failed as a
        # consequence.
        return min(failures, key=lambda failure: failure.code > 0, default=None)

    def _send_signal(self, number: int, *, by_terminal: bool = False) -> None:
        for rank, child in enumerate(self._children):
            if child.returncode is not None:
                continue  # other code has waited for it: the number may be another process's by now
            if by_terminal and self._keeps_terminal(rank):
                continue  # the terminal has already sent the signal to this rank
            # The number of a process that has ended stays reserved until __exit__ waits for it, and its group may still
            # have other processes.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if self._keeps_terminal(rank):
                    os.kill(child.pid, number)
                else:
                    os.killpg(child.pid, number)

    def _suspend(self) -> None:
        self._send_signal(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)  # continues when the shell sends SIGCONT
        self._send_signal(signal.SIGCONT)

    def _end_all(self, grace: float) -> None:
        self._send_signal(signal.SIGTERM)
        deadline = time.monotonic() + grace
        while self._is_any_running() and time.monotonic() < deadline:
            time.sleep(0.01)
        self._send_signal(signal.SIGKILL)

    def __enter__(self) -> Ranks:
        """Return the ranks; leaving `with` ends ranks that still run."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the ranks that still run, and restore the former handling of signals."""
        if self._is_any_running():
            self._end_all(GRACE)
        for child in self._children:
            child.wait()
        self._signals.close()
