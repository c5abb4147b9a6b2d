"""What a recorded command ran, as people call it: the script or the program, not what started it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

# Programs that start others and do nothing of their own: those are recorded too, as processes.
_LAUNCHERS = re.compile(
    r"mpiexec|mpirun|mpiexec\.\w+|mpirun\.\w+|hydra_\w+|orterun|orted|prterun|prted|prun|srun|sbatch|slurmstepd|aprun|"
    r"jsrun|flux|pmi_proxy|env|nohup|time|timeout|nice|ionice|taskset|numactl|setsid|stdbuf|xargs|plait|strace|make"
)
# Programs that run a script: the options that take a value, and the one before code in the command itself.
_INTERPRETERS = {
    r"python[\d.]*|pypy[\d.]*": (("-W", "-X", "--check-hash-based-pycs"), "-c"),
    r"perl[\d.]*|ruby[\d.]*": (("-I", "-r", "-M"), "-e"),
    r"Rscript|julia": (("-p", "-t", "-L", "--project", "--threads"), "-e"),
    r"node|lua[\d.]*|octave|matlab|wish|tclsh[\d.]*": (("-r", "--require"), "-e"),
    r"sh|bash|dash|zsh|ksh": (("-o", "-O", "+o"), "-c"),
}


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _script(arguments: Sequence[str], valued: Sequence[str], code: str) -> str | None:
    """The script among an interpreter's arguments, or the module; None where code is in the command itself."""
    skip = False
    for at, word in enumerate(arguments):
        if skip:
            skip = False
        elif word == "-m" and at + 1 < len(arguments):
            return arguments[at + 1]
        elif word in (code, "-"):
            return None
        elif word in valued:
            skip = True
        elif not word.startswith("-"):
            return PurePosixPath(word).name or None
    return None


def ran(command: str) -> str:
    """What one command ran: the script of an interpreter, else the program; nothing for an empty command."""
    words = _words(command)
    name = PurePosixPath(words[0]).name if words else ""
    for pattern, (valued, code) in _INTERPRETERS.items():
        if re.fullmatch(pattern, name):
            return _script(words[1:], valued, code) or name
    if name == "java" and "-jar" in words[:-1]:
        return PurePosixPath(words[words.index("-jar") + 1]).name
    return name


def starts_others(command: str) -> bool:
    """Whether a command is of a program that only starts others."""
    words = _words(command)
    return bool(words) and _LAUNCHERS.fullmatch(PurePosixPath(words[0]).name) is not None


def programs(processes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the programs of a trace: those of ranks first, then the others, each by start time.

    Launchers are left out unless there is nothing else. Ranks come first, because a launcher that is not known to be
    one starts before them.
    """
    ordered = sorted(processes, key=lambda one: ((one.get("rank") or 0) < 0, one.get("begin") or 0))
    commands = [str(one.get("command") or "").strip() for one in ordered]
    chosen = [command for command in commands if not starts_others(command)]
    names = [ran(command) for command in (chosen if any(chosen) else commands)]
    return list(dict.fromkeys(name for name in names if name))
