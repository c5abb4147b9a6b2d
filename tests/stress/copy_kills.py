"""Kills `plait copy` at random moments, with --resume and without, on one process and on two ranks.

usage: python tests/stress/copy_kills.py --kills N --seed S [--minutes M] [--ranks 1,2] [--folder DIR]

After each kill the target must be absent, as it was before, or whole. A copy that is resumed, perhaps after several
kills, must finally write what an uninterrupted copy writes: the same bytes or, if chunks share a file in the order in
which they were written, the same elements. No other file may be left at the end.
"""

import argparse
import contextlib
import ctypes
import filecmp
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import plait

SHAPE = (1024, 1536)
COMMON_OPTIONS = ["--memory", "192K", "--json"]


@dataclass(frozen=True)
class Case:
    """A kind of copy: the arguments of `plait copy`, and what is expected of its target."""

    name: str
    source: str
    target: str
    options: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ("",)  # suffixes of the target's URL that name its arrays
    resumes: bool = True  # whether --resume continues such a copy
    exact: bool = True  # whether all copies of this kind have the same bytes


CASES = [
    Case("npy to npy", "rows.npy", "t.npy"),
    Case("npy to Fortran's order", "rows.npy", "t.npy", ("--target-order", "F")),
    Case("npy to raw", "rows.npy", "t.bin"),
    Case("npy to stripes", "rows.npy", "stripe:t.s?disks=one,two&unit=64K"),
    Case("npy to chunks", "rows.npy", "t.zarr", ("--chunks", "96,256")),
    Case("npy to packed chunks", "rows.npy", "t.zarr", ("--chunks", "100,300", "--codec", "zstd:1")),
    Case("npy to shards", "rows.npy", "t.zarr", ("--chunks", "64,64", "--shards", "512,1024"), exact=False),
    Case("rows to columns", "rows.zarr", "t.zarr", ("--chunks", "1024,16", "--codec", "zstd:1")),
    Case("all arrays of a file", "several.npz", "t.zarr", ("--codec", "zstd:1"), ("::/a", "::/b")),
    Case("all arrays into a file", "several.npz", "t.safetensors", (), ("::a", "::b")),
    Case("npy to HDF5", "rows.npy", "t.h5::/a", ("--chunks", "96,256"), resumes=False),
]


def make_sources(folder: Path) -> dict[str, np.ndarray]:
    """Write the sources, and return the arrays that copies of them must have."""
    random = np.random.default_rng(3)
    rows = random.integers(0, 1 << 20, SHAPE).astype(">i4")
    parts = {"a": random.random((700, 900)), "b": random.integers(0, 99, (400, 500, 3)).astype("i2")}
    for disk in ("one", "two"):
        (folder / disk).mkdir()
    np.save(folder / "rows.npy", rows)
    plait.copy(folder / "rows.npy", folder / "rows.zarr", chunks=(16, SHAPE[1]), codec="zstd:1")
    np.savez(folder / "several.npz", **parts)
    return {"": rows, "::/a": parts["a"], "::a": parts["a"], "::/b": parts["b"], "::b": parts["b"]}


def target_path(target: str) -> str:
    """Return the path of a target's file or folder."""
    return target.removeprefix("stripe:").partition("?")[0].partition("::")[0]


def list_process_tree(process: int) -> list[int]:
    """Return the id of a process and of all processes below it."""
    actual = [process]
    for process_id in actual:
        for thread in Path(f"/proc/{process_id}/task").glob("*/children"):
            try:
                actual += [int(number) for number in thread.read_text().split()]
            except OSError:
                continue
    return actual


PR_SET_CHILD_SUBREAPER = 36


def kill_descendants() -> None:
    """Kill all processes below this one, until none is left.

    A launcher that is killed while it starts a rank leaves an orphan. As main() makes this process a subreaper, the
    orphan becomes its child, and is killed in the next pass.
    """
    while descendants := list_process_tree(os.getpid())[1:]:
        for process_id in descendants:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.001)


class Kills:
    """All rounds of a run of this program, and what they have counted."""

    def __init__(self, folder: Path, seed: int, ranks: list[int]) -> None:
        self.folder, self.random, self.ranks = folder, random.Random(seed), ranks
        self.expected = make_sources(folder)
        self.sources = {entry.name for entry in folder.iterdir()}
        # The seconds of a case on some ranks: from its start to its first temporary file, and from there to its end.
        self.durations: dict[tuple[str, int], tuple[float, float]] = {}
        self.resumed = 0  # number of copies that have continued an earlier one
        self.kills: Counter[str] = Counter()  # by case
        self.states: Counter[str] = Counter()  # of targets after a kill

    def command(self, case: Case, ranks: int, resume: bool) -> list[str]:
        resume_option = ["--resume"] if resume else []
        ranks_option = ["--ranks", str(ranks)] if ranks > 1 else []
        return [
            sys.executable,
            "-m",
            "plait.cli",
            "copy",
            case.source,
            case.target,
            *case.options,
            *COMMON_OPTIONS,
            *resume_option,
            *ranks_option,
        ]

    def run(self, case: Case, ranks: int, resume: bool, kill_at: float | None = None) -> bool:
        """Run a copy, kill it unless kill_at is None, and return True if it ended before the kill.

        kill_at  when to kill it, as a fraction of the usual time from its first temporary file to its end; a negative
                 number kills it while it starts
        """
        before = self.temporary_files()
        begin = first_write = time.monotonic()
        with subprocess.Popen(
            self.command(case, ranks, resume), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            while process.poll() is None and self.temporary_files() == before and (kill_at is None or kill_at >= 0):
                time.sleep(0.001)
                first_write = time.monotonic()
            wait = None
            if kill_at is not None:
                start, copying = self.durations[case.name, ranks]
                wait = kill_at * copying if kill_at >= 0 else (1 + kill_at) * start
            try:
                output, errors = process.communicate(timeout=wait)
            except subprocess.TimeoutExpired:
                kill_descendants()
                process.communicate()
                self.kills[f"{case.name}, {'resumed' if resume else 'not resumed'}, {ranks} ranks"] += 1
                return False
        if process.returncode != 0:
            raise AssertionError(f"{self.command(case, ranks, resume)} failed: {errors.decode()}")
        if json.loads(output)["resumed"]:
            self.resumed += 1
        self.durations.setdefault((case.name, ranks), (first_write - begin, time.monotonic() - first_write))
        return True

    def temporary_files(self) -> dict[str, int]:
        """Return the names of temporary files and their times of modification.

        A copy that continues an earlier one creates no temporary file, but changes the journal of the earlier one.
        """
        actual = {}
        for entry in os.scandir(self.folder):
            if entry.name.startswith("."):
                with contextlib.suppress(FileNotFoundError):
                    actual[entry.name] = entry.stat().st_mtime_ns
        return actual

    def check_state(self, case: Case, had_old: bool) -> str:
        """Return the state of the target: absent, some arrays, old or whole; any other state is an error.

        had_old  whether there was an older target before the copy
        """
        path = self.folder / target_path(case.target)
        if not path.exists():
            assert not had_old, f"{case.name}: the old target has gone"
            return "absent"
        try:
            is_whole = all(np.array_equal(self.read(case, name), self.expected[name]) for name in case.arrays)
        except plait.Error as error:
            # Each of several arrays in a folder appears when it is whole, so the first one may exist alone.
            if case.target == "t.zarr" and len(case.arrays) > 1 and not had_old:
                names = {array.name.strip("/") for array in plait.arrays_in(path)}
                if all(
                    np.array_equal(plait.open(f"{path}::/{name}").read(), self.expected[f"::/{name}"]) for name in names
                ):
                    return "some arrays"
            raise AssertionError(f"{case.name}: the target cannot be read: {error}") from error
        if is_whole:
            return "whole"
        assert had_old, f"{case.name}: the target is neither absent nor whole"
        for name in case.arrays:
            actual, expected = self.read(case, name), self.expected[name]
            assert np.array_equal(actual, expected) or not actual.any(), (
                f"{case.name}: the target is neither old nor new"
            )
        return "old"

    def read(self, case: Case, name: str) -> np.ndarray:
        target = case.target.partition("::")[0] + name if name else case.target
        description = {} if not target.endswith("bin") and "stripe" not in target else {"shape": SHAPE, "dtype": ">i4"}
        with plait.open(
            str(self.folder / target) if "stripe" not in target else self.stripe_url(), **description
        ) as file:
            return np.asarray(file.read())

    def stripe_url(self) -> str:
        return f"stripe:{self.folder}/t.s"

    def clear(self) -> None:
        """Remove all files except the sources and the reference targets."""
        for entry in self.folder.iterdir():
            if entry.name not in self.sources:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for disk in ("one", "two"):
            for entry in (self.folder / disk).iterdir():
                entry.unlink()

    def make_old_target(self, case: Case) -> None:
        """Write an older target of the same kind with zeros."""
        os.chdir(self.folder)
        if len(case.arrays) > 1 and not case.target.endswith("zarr"):
            descriptions = {
                name.strip(":/"): (self.expected[name].shape, self.expected[name].dtype) for name in case.arrays
            }
            with plait.open(case.target, "w", arrays=descriptions):
                return
        for name in case.arrays:
            target = case.target.partition("::")[0] + name if name else case.target
            with plait.open(target, "w", shape=self.expected[name].shape, dtype=self.expected[name].dtype):
                continue

    def run_round(self, case: Case, ranks: int, resume: bool) -> None:
        """Kill a copy, once or, with `resume`, perhaps several times; then let it end, and check the target."""
        self.clear()
        # Each of several arrays in one folder replaces its predecessor separately.
        has_old = self.random.random() < 0.5 and not (len(case.arrays) > 1 and case.target.endswith("zarr"))
        if has_old:
            self.make_old_target(case)
        if (case.name, ranks) not in self.durations:
            self.run(case, ranks, resume=False)
            reference = self.folder / f"reference {case.name}{Path(target_path(case.target)).suffix}"
            if not reference.exists() and "stripe" not in case.target:
                os.rename(self.folder / target_path(case.target), reference)
                self.sources.add(reference.name)
            self.clear()
            if has_old:
                self.make_old_target(case)
        for _ in range(self.random.randint(1, 4) if resume else 1):
            has_ended = self.run(case, ranks, resume, self.random.uniform(-0.2, 1.0))
            self.states[self.check_state(case, has_old)] += 1
            if has_ended:
                break
        self.run(case, ranks, resume)
        state = self.check_state(case, has_old)
        assert state == "whole", f"{case.name}: the target is {state} at the end"
        reference = self.folder / f"reference {case.name}{Path(target_path(case.target)).suffix}"
        if case.exact and reference.exists() and case.resumes:
            assert have_same_bytes(reference, self.folder / target_path(case.target)), (
                f"{case.name}: other bytes than without a kill"
            )
        remaining = {entry.name for entry in self.folder.iterdir()} - self.sources - {target_path(case.target)}
        if "stripe" in case.target:
            disks = {disk: len(os.listdir(self.folder / disk)) for disk in ("one", "two")}
            assert set(disks.values()) == {1}, f"{case.name}: files on the disks: {disks}"
        assert not remaining, f"{case.name}: {remaining} is left"


def have_same_bytes(first: Path, second: Path) -> bool:
    """Return True if two files, or all files of two folders, have the same bytes."""
    if first.is_file():
        return filecmp.cmp(first, second, shallow=False)
    names = {path.relative_to(first) for path in first.rglob("*")}
    if names != {path.relative_to(second) for path in second.rglob("*")}:
        return False
    return all(filecmp.cmp(first / name, second / name, shallow=False) for name in names if (first / name).is_file())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=1e6, help="end after so many minutes in any case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ranks = [int(count) for count in arguments.ranks.split(",")]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        kills = Kills(Path(name).resolve(), arguments.seed, ranks)
        rounds = [(case, ranks[0], resume) for case in CASES for resume in (False, True, True)]
        # Several ranks take long to start.
        rounds += [(case, count, resume) for case in CASES for count in ranks[1:] for resume in (False, True)]
        kills.random.shuffle(rounds)
        number = 0
        end = time.monotonic() + 60 * arguments.minutes
        while kills.kills.total() < arguments.kills and time.monotonic() < end:
            kills.run_round(*rounds[number % len(rounds)])
            number += 1
        os.chdir("/")
        for text, actual in sorted(kills.kills.items()):
            print(f"{actual:4} kills of {text}")
        print(
            "after a kill the target was", ", ".join(f"{text} {actual} times" for text, actual in kills.states.items())
        )
        print(
            f"{kills.kills.total()} kills in {number} rounds, no wrong target; {kills.resumed} copies "
            "went on with an earlier one"
        )


if __name__ == "__main__":
    main()
