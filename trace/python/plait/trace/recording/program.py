"""The name of the program that a recorded command ran: the script of an interpreter, else the executable.

Problem: a recording of ``mpiexec -n 4 python -W ignore solve.py`` has processes of mpiexec, of its proxies and of
Python, but users call this program "solve.py".

Idea: commands of launchers (mpiexec, env, strace, ...) are skipped. Of an interpreter's command, the first argument
that is neither an option nor the value of an option is the script. In the example, -W takes the value "ignore", so that
solve.py is the script. ``python -m pkg.tool`` gives pkg.tool, and ``python -c CODE`` gives the interpreter itself.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

# Programs that only start other programs. Those are recorded too, as processes of their own.
_LAUNCHERS = re.compile(
    r"mpiexec|mpirun|mpiexec\.\w+|mpirun\.\w+|hydra_\w+|orterun|orted|prterun|prted|prun|srun|sbatch|slurmstepd|aprun|"
    r"jsrun|flux|pmi_proxy|env|nohup|time|timeout|nice|ionice|taskset|numactl|setsid|stdbuf|xargs|plait|strace|make"
)
# Interpreters: the options that take a value, and the option that takes code on the command line.
_INTERPRETERS = {
    r"python[\d.]*|pypy[\d.]*": (("-W", "-X", "--check-hash-based-pycs"), "-c"),
    r"perl[\d.]*|ruby[\d.]*": (("-I", "-r", "-M"), "-e"),
    r"Rscript|julia": (("-p", "-t", "-L", "--project", "--threads"), "-e"),
    r"node|lua[\d.]*|octave|matlab|wish|tclsh[\d.]*": (("-r", "--require"), "-e"),
    r"sh|bash|dash|zsh|ksh": (("-o", "-O", "+o"), "-c"),
}


def _split_command(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _find_script(arguments: Sequence[str], options_with_value: Sequence[str], code_option: str) -> str | None:
    """Return the script or module among the arguments of an interpreter, or None if the code is on the command line."""
    is_option_value = False
    for index, word in enumerate(arguments):
        if is_option_value:
            is_option_value = False
        elif word == "-m" and index + 1 < len(arguments):
            return arguments[index + 1]
        elif word in (code_option, "-"):
            return None
        elif word in options_with_value:
            is_option_value = True
        elif not word.startswith("-"):
            return PurePosixPath(word).name or None
    return None


def name_program(command: str) -> str:
    """Return the name of the program that a command ran: the script of an interpreter, else the executable. An empty
    command gives an empty name.
    """
    words = _split_command(command)
    name = PurePosixPath(words[0]).name if words else ""
    for pattern, (options_with_value, code_option) in _INTERPRETERS.items():
        if re.fullmatch(pattern, name):
            return _find_script(words[1:], options_with_value, code_option) or name
    if name == "java" and "-jar" in words[:-1]:
        return PurePosixPath(words[words.index("-jar") + 1]).name
    return name


def is_launcher(command: str) -> bool:
    """Return True if the program of a command is a launcher."""
    words = _split_command(command)
    return bool(words) and _LAUNCHERS.fullmatch(PurePosixPath(words[0]).name) is not None


def list_programs(processes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the programs of a trace, without duplicates: first those of ranks, then the others, each by
    start time.

    Launchers are skipped unless all commands are of launchers. Ranks come first, because an unknown launcher starts
    before the ranks do.
    """
    ordered = sorted(processes, key=lambda process: ((process.get("rank") or 0) < 0, process.get("begin") or 0))
    commands = [str(process.get("command") or "").strip() for process in ordered]
    started_programs = [command for command in commands if not is_launcher(command)]
    names = [name_program(command) for command in (started_programs if any(started_programs) else commands)]
    return list(dict.fromkeys(name for name in names if name))
