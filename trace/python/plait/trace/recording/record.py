"""Records programs: preloads a library into them, and finds programs that cannot be recorded."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from plait._arguments.words import kind, shown
from plait._base.errors import ArgumentError, ArgumentTypeError, StoreError
from plait.trace.recording.choice import Choice, write_choice
from plait.trace.recording.obstacles import LIBRARY, find_obstacle

_MAGIC = b"\x89PLAIT\r\n"
_RANKS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")


def record(
    command: list[str],
    path: str | os.PathLike[str],
    *,
    append: bool = False,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    all: bool = False,
) -> int:
    """Run a command and record its input and output, and those of all its children, into a trace.

    Args:
        command: the program and its arguments; the program is searched along ``PATH``.
        path: the trace. An older trace is replaced; under an MPI launcher all ranks of one job share it.
        append: add to an existing trace.
        include, exclude, all: the files that reports of the trace include, as in ``plait.trace.report``; the trace
            holds all.

    Returns:
        The command's exit status; 128 plus the signal's number if a signal ended it.

    Raises:
        plait.Error: the command is not a list of texts, the file at the path is not a trace, or the recording library
            is missing.
        OSError: the command cannot be run, or the trace cannot be written.

    A process may run one call at a time: signals are passed on to the command while it runs.
    """
    command = _require_command(command)
    choice = Choice(list(include), list(exclude), all)
    choice.encode()
    program = find_program(command[0])
    environment = recording_environment(path)
    _remove_older_trace(Path(path), append)
    status = _run_recorded(program, command, environment)
    if os.path.exists(path) and not choice.is_default():
        write_choice(path, choice)
    return status


def _require_command(command: Sequence[str]) -> list[str]:
    """Return the command as a list, after checking that it consists of texts."""
    expected = 'expected a list of the program and its arguments, such as ["python", "analyse.py"]'
    if isinstance(command, (str, bytes)):
        raise ArgumentTypeError(f"command is the text {shown(command)}; {expected}")
    if not isinstance(command, Sequence):
        raise ArgumentTypeError(f"command is {kind(command)}; {expected}")
    if not command:
        raise ArgumentError(f"command is empty; {expected}")
    for word in command:
        if not isinstance(word, str):
            raise ArgumentTypeError(f"command holds {kind(word)}, {shown(word)}; {expected}")
        if "\0" in word:
            raise ArgumentError(f"command holds {shown(word)}, which contains a null character; leave that out")
    return list(command)


def _run_recorded(program: str, command: list[str], environment: dict[str, str]) -> int:
    """Run the command with the recording library preloaded, and return its exit status."""
    if find_obstacle(program):
        # env, which is recorded, runs the program, so that the trace states that the program was not recorded.
        name = program if "=" in command[0] else command[0]
        return _run_and_wait("/usr/bin/env", ["env", "--", name, *command[1:]], environment)
    try:
        return _run_and_wait(program, list(command), environment)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        return _run_and_wait(
            "/bin/sh", ["sh", program, *command[1:]], environment
        )  # a script without #!, as shells run it


def recording_environment(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the environment in which programs record themselves into the trace at ``path``."""
    if not LIBRARY.exists():
        raise StoreError(f"{LIBRARY}: the recording library is missing; install Plait again, on Linux")
    if any(character in str(LIBRARY) for character in " :"):
        raise StoreError(f"{LIBRARY}: the loader takes no blanks or colons in LD_PRELOAD; install Plait elsewhere")
    names = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    if str(LIBRARY) not in names:  # otherwise the caller determines the order
        names.insert(0, str(LIBRARY))
    environment = {**os.environ, "PLAIT_RECORD": os.path.abspath(path), "LD_PRELOAD": ":".join(names)}
    # Requests of the program to Plait are recorded in the same trace.
    environment.setdefault("PLAIT_TRACE", environment["PLAIT_RECORD"])
    environment.pop("PLAIT_RECORD_EXEC", None)
    # A program built with gcc's AddressSanitizer does not start if another library is loaded before it.
    options = os.environ.get("ASAN_OPTIONS", "")
    if "verify_asan_link_order" not in options:
        environment["ASAN_OPTIONS"] = "verify_asan_link_order=0" + (f":{options}" if options else "")
    return environment


def find_program(name: str) -> str:
    """Return the path of a program, as a shell finds it.

    Raises:
        OSError: it does not exist, or may not be run.
    """
    path = shutil.which(name)
    if path is None:
        code = errno.EACCES if os.path.exists(name) else errno.ENOENT
        raise OSError(code, os.strerror(code), name)
    return os.path.abspath(path) if os.sep in path else path


def _remove_older_trace(path: Path, append: bool) -> None:
    """Remove an older trace. Later ranks of a job do not remove the trace that its first rank has made."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed by the with below
    except FileNotFoundError:
        if not path.absolute().parent.is_dir():
            raise OSError(errno.ENOENT, "there is no such folder", str(path.absolute().parent)) from None
        return
    with file:
        head = file.read(48)
        if head and not head.startswith(_MAGIC):
            raise ArgumentError(f"{path}: is not a trace, and is not overwritten; name another file by -o")
        if append and head:
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            current = os.stat(path)
        except FileNotFoundError:
            return
        if (current.st_dev, current.st_ino) != (os.fstat(file.fileno()).st_dev, os.fstat(file.fileno()).st_ino):
            return  # another rank was faster
        if head and any(name in os.environ for name in _RANKS) and _made_in_this_job(head):
            return
        if head and _is_mapped(path):
            raise StoreError(f"{path}: a program is being recorded into it; name another file by -o, or add --append")
        path.unlink()


def _is_mapped(path: Path) -> bool:
    """Return True if a process of this machine is known to write into a trace; those of other users may be hidden."""
    name = os.fsencode(os.path.realpath(path)) + b"\n"
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(line.endswith(b" " + name) for line in (folder / "maps").read_bytes().splitlines(keepends=True)):
                return True
    return False


def _made_in_this_job(head: bytes) -> bool:
    """Return True if a trace was begun after the launcher of this rank had started."""
    (begin_ns,) = struct.unpack_from("<q", head, 32)
    with open(f"/proc/{os.getppid()}/stat", encoding="ascii", errors="replace") as file:
        start_ticks = int(file.read().rsplit(")", 1)[1].split()[19])
    with open("/proc/uptime", encoding="ascii") as file:
        uptime = float(file.read().split()[0])
    launcher_age = uptime - start_ticks / os.sysconf("SC_CLK_TCK")
    trace_age = time.monotonic() - begin_ns / 1e9
    return bool(trace_age <= launcher_age + 0.02)  # seconds; the start of a process is known in ticks of 0.01 s


def _run_and_wait(program: str, arguments: list[str], environment: dict[str, str]) -> int:
    """Run a program, forward signals to it, and return its exit status, or 128 plus the number of its signal."""
    # Launchers pass open descriptors to the ranks, so these are not closed.
    with subprocess.Popen(arguments, executable=program, env=environment, close_fds=False) as process:

        def forward_signal(number: int, frame: FrameType | None) -> None:
            process.send_signal(number)

        previous_handlers = {
            number: signal.signal(number, forward_signal) for number in (signal.SIGTERM, signal.SIGHUP)
        }
        # The terminal sends these signals to the command as well, which handles them itself.
        previous_handlers |= {
            number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGQUIT)
        }
        try:
            status = process.wait()
        finally:
            for number, handler in previous_handlers.items():
                signal.signal(number, handler)
    return status if status >= 0 else 128 - status
