"""Repeatedly runs programs that call MPI_Finalize, or end, while Plait still works in the background, under load.

usage: python tests/stress/finalize.py [--times N] [--ranks R] [--load L] [--plain]
                                       [--language C|Fortran|Python] [--what W] [--node 0|1|2]

All programs of tests/jobs/finalizes.* and tests/fortran/finalizes.f90 run N times: in C, in Fortran and in Python; on
one node, and on nodes of one and of two ranks, where threads of Plait call MPI. Every run must end by itself within
LIMIT_SECONDS with exit status 0. MPICH must not complain, whether the slow functions of tests/jobs/slow_mpi.c are
preloaded (which makes it likely that a thread is inside MPI when MPI_Finalize begins) or, with --plain, not. Plait may
say that files were not closed, and that requests which were not waited for have failed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import plait

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
LIBRARIES = Path(plait.__file__).parent
LIMIT_SECONDS = 60
NODES = ("", "1", "2")
C_CASES = ("started", "thread", "callback", "abandoned", "stream", "stream closed")
PYTHON_CASES = ("started", "started, finalized", "abandoned", "abandoned, finalized", "stream", "stream, finalized")
FORTRAN_CASES = ("started", "abandoned", "stream")
COMPLAINTS = ("resource busy", "Assertion failed", "Fatal error", "BAD TERMINATION", "terminate called")
# With these settings Open MPI starts more ranks than cores, also as root.
WELCOME = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Case:
    """One program, and the operations that are pending when it ends."""

    language: str
    what: str  # name of the pending operations, an argument of the program
    node: str  # number of ranks that Plait takes as a node; empty: all ranks of this host

    def is_chosen(self, arguments: argparse.Namespace) -> bool:
        """Return True if the arguments of the command line include this case."""
        node = arguments.node.replace("0", "") if arguments.node else self.node
        language, what = arguments.language or self.language, arguments.what or self.what
        return (language, what, node) == (self.language, self.what, self.node)

    def __str__(self) -> str:
        """Return a line for reports."""
        return f"{self.language}, {self.what}, {f'nodes of {self.node}' if self.node else 'one node'}"


def list_cases() -> list[Case]:
    """Return all cases whose languages can be compiled here."""
    languages = {"C": C_CASES, "Python": PYTHON_CASES}
    if shutil.which("gfortran") and (LIBRARIES / "libplait_fortran.so").exists():
        languages["Fortran"] = FORTRAN_CASES
    return [Case(language, what, node) for language, all_ in languages.items() for what in all_ for node in NODES]


class Programs:
    """The compiled programs, in a folder."""

    def __init__(self, folder: Path) -> None:
        """Compile them."""
        self.folder = folder
        self.slow = folder / "slow_mpi.so"
        self._compile("mpicc", "-shared", "-fPIC", "-O1", ROOT / "tests/jobs/slow_mpi.c", "-o", self.slow)
        linked = [f"-L{LIBRARIES}", "-lplait_mpi", "-lplait", f"-Wl,-rpath,{LIBRARIES}", "-lpthread"]
        source = ROOT / "tests/jobs/finalizes.c"
        self._compile("mpicc", "-Wall", f"-I{ROOT}/include", source, "-o", folder / "in_c", *linked)
        if any(case.language == "Fortran" for case in list_cases()):
            options = [f"-I{LIBRARIES}/fortran", f"-J{folder}", ROOT / "tests/fortran/finalizes.f90"]
            libraries = [LIBRARIES / "libplait_fortran.so", f"-Wl,-rpath,{LIBRARIES}"]
            self._compile("gfortran", "-O1", *options, "-o", folder / "in_fortran", *libraries)

    @staticmethod
    def _compile(*command: str | Path) -> None:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    def run(self, case: Case, ranks: int, delay_ms: int, preload_slow_mpi: bool = True) -> str:
        """Run a case, in which rank 1 ends `behind` ms after the others; return what is wrong, or an empty text."""
        work_folder = Path(tempfile.mkdtemp(dir=self.folder))
        arguments = [case.what, str(work_folder / "a.npy"), str(delay_ms)]
        program = {
            "C": [str(self.folder / "in_c"), *arguments],
            "Fortran": [str(self.folder / "in_fortran")],
            "Python": [sys.executable, str(ROOT / "tests/jobs/finalizes.py"), *arguments],
        }[case.language]
        settings = {"PLAIT_NODE_SIZE": case.node, "WHAT": case.what}
        preload = ["env", f"LD_PRELOAD={self.slow}"] if preload_slow_mpi else []
        try:
            done = subprocess.run(
                ["mpiexec", "-n", str(ranks), *preload, *program],
                cwd=work_folder,
                env={**os.environ, **WELCOME, **settings},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LIMIT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            return f"still runs after {LIMIT_SECONDS} s:\n{error.output!r}"
        finally:
            shutil.rmtree(work_folder, ignore_errors=True)
        if done.returncode != 0 or any(word in done.stdout for word in COMPLAINTS):
            return f"exit status {done.returncode}:\n{done.stdout}"
        return ""


@contextmanager
def keep_machine_busy(count: int) -> Iterator[None]:
    """Run `count` processes that compute without end, within a `with` block."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def main() -> int:
    """Run all chosen cases, and print how often each has failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--load", type=int, default=6)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--language", choices=("C", "Fortran", "Python"), default="")
    parser.add_argument("--what", default="", help="the pending operations, as named in C_CASES and the other lists")
    parser.add_argument("--node", choices=("0", "1", "2"), default="", help="ranks of a node, 0: all")
    arguments = parser.parse_args()
    failures: dict[Case, list[str]] = {}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, keep_machine_busy(arguments.load):
        programs = Programs(Path(folder))
        chosen_cases = [case for case in list_cases() if case.is_chosen(arguments)]
        for number in range(arguments.times):
            for case in chosen_cases:
                delay_ms = (150, 50, 0)[number % 3]
                problem = programs.run(case, arguments.ranks, delay_ms, preload_slow_mpi=not arguments.plain)
                if problem:
                    failures.setdefault(case, []).append(problem)
                    print(f"{case}: {problem}", flush=True)
    for case in chosen_cases:
        print(f"{case}: {len(failures.get(case, []))} of {arguments.times} runs failed")
    print(f"{arguments.times * len(chosen_cases)} runs in {time.monotonic() - begin:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
