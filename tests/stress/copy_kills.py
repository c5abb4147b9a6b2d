"""Copies that are killed at random moments, with --resume and without, by one process and by two ranks.

usage: python tests/stress/copy_kills.py --kills N --seed S [--minutes M] [--ranks 1,2] [--folder DIR]

After each kill the target must be absent, as it was before, or whole. A copy that is resumed, and killed again a few
times, must end with what one without interruption writes, byte by byte; where chunks share a file, whose order there is
that of their writing, element by element. Nothing else may be left then.
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
SIGNS = ["--memory", "192K", "--json"]


@dataclass(frozen=True)
class Case:
    """A kind of copy."""

    name: str
    source: str
    target: str
    options: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ("",)
    resumes: bool = True
    exact: bool = True


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
    chance = np.random.default_rng(3)
    rows = chance.integers(0, 1 << 20, SHAPE).astype(">i4")
    parts = {"a": chance.random((700, 900)), "b": chance.integers(0, 99, (400, 500, 3)).astype("i2")}
    for disk in ("one", "two"):
        (folder / disk).mkdir()
    np.save(folder / "rows.npy", rows)
    plait.copy(folder / "rows.npy", folder / "rows.zarr", chunks=(16, SHAPE[1]), codec="zstd:1")
    np.savez(folder / "several.npz", **parts)
    return {"": rows, "::/a": parts["a"], "::a": parts["a"], "::/b": parts["b"], "::b": parts["b"]}


def target_path(target: str) -> str:
    """Return the path of a target's file or folder."""
    return target.removeprefix("stripe:").partition("?")[0].partition("::")[0]


def descendants(process: int) -> list[int]:
    """Return a process and all that it has started."""
    found = [process]
    for process_id in found:
        for thread in Path(f"/proc/{process_id}/task").glob("*/children"):
            try:
                found += [int(number) for number in thread.read_text().split()]
            except OSError:
                continue
    return found


PR_SET_CHILD_SUBREAPER = 36


def end_all_started() -> None:
    """Kill all that this process has started, whoever started it, until nothing of it runs.

    A launcher that is killed while it starts a rank leaves one that nobody has seen: main() makes it a child of ours.
    """
    while started := descendants(os.getpid())[1:]:
        for process_id in started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.001)


class Kills:
    """A run of the test."""

    def __init__(self, folder: Path, seed: int, ranks: list[int]) -> None:
        self.folder, self.chance, self.ranks = folder, random.Random(seed), ranks
        self.expected = make_sources(folder)
        self.sources = {entry.name for entry in folder.iterdir()}
        self.took: dict[tuple[str, int], tuple[float, float]] = {}  # until it begins, and from there to its end
        self.resumed = 0
        self.kills: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()

    def command(self, case: Case, ranks: int, resume: bool) -> list[str]:
        more = ["--resume"] if resume else []
        start = ["--ranks", str(ranks)] if ranks > 1 else []
        return [
            sys.executable,
            "-m",
            "plait.cli",
            "copy",
            case.source,
            case.target,
            *case.options,
            *SIGNS,
            *more,
            *start,
        ]

    def run(self, case: Case, ranks: int, resume: bool, kill_at: float | None = None) -> bool:
        """Return whether the copy has come to its end.

        kill_at  when it is killed, as a share of the time from the first sight of its temporary file to its end; below
                 zero while it starts
        """
        before = self.temporary()
        begin = seen = time.monotonic()
        with subprocess.Popen(
            self.command(case, ranks, resume), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            while process.poll() is None and self.temporary() == before and (kill_at is None or kill_at >= 0):
                time.sleep(0.001)
                seen = time.monotonic()
            wait = None
            if kill_at is not None:
                start, moving = self.took[case.name, ranks]
                wait = kill_at * moving if kill_at >= 0 else (1 + kill_at) * start
            try:
                output, errors = process.communicate(timeout=wait)
            except subprocess.TimeoutExpired:
                end_all_started()
                process.communicate()
                self.kills[f"{case.name}, {'resumed' if resume else 'not resumed'}, {ranks} ranks"] += 1
                return False
        if process.returncode != 0:
            raise AssertionError(f"{self.command(case, ranks, resume)} failed: {errors.decode()}")
        if json.loads(output)["resumed"]:
            self.resumed += 1
        self.took.setdefault((case.name, ranks), (seen - begin, time.monotonic() - seen))
        return True

    def temporary(self) -> dict[str, int]:
        """When each temporary file has changed: a copy that goes on with another one changes the journal."""
        found = {}
        for entry in os.scandir(self.folder):
            if entry.name.startswith("."):
                with contextlib.suppress(FileNotFoundError):
                    found[entry.name] = entry.stat().st_mtime_ns
        return found

    def state(self, case: Case, old: bool) -> str:
        """Return what the target is; it must be one of these.  old: whether there was one."""
        path = self.folder / target_path(case.target)
        if not path.exists():
            assert not old, f"{case.name}: the old target has gone"
            return "absent"
        try:
            whole = all(np.array_equal(self.read(case, name), self.expected[name]) for name in case.arrays)
        except plait.Error as error:
            # Each of several arrays in a folder appears when it is whole, so the first one may exist alone.
            if case.target == "t.zarr" and len(case.arrays) > 1 and not old:
                names = {array.name.strip("/") for array in plait.arrays_in(path)}
                if all(
                    np.array_equal(plait.open(f"{path}::/{name}").read(), self.expected[f"::/{name}"]) for name in names
                ):
                    return "some arrays"
            raise AssertionError(f"{case.name}: the target cannot be read: {error}") from error
        if whole:
            return "whole"
        assert old, f"{case.name}: the target is neither absent nor whole"
        for name in case.arrays:
            found, wanted = self.read(case, name), self.expected[name]
            assert np.array_equal(found, wanted) or not found.any(), f"{case.name}: the target is neither old nor new"
        return "old"

    def read(self, case: Case, name: str) -> np.ndarray:
        target = case.target.partition("::")[0] + name if name else case.target
        description = {} if not target.endswith("bin") and "stripe" not in target else {"shape": SHAPE, "dtype": ">i4"}
        with plait.open(str(self.folder / target) if "stripe" not in target else self.striped(), **description) as file:
            return np.asarray(file.read())

    def striped(self) -> str:
        return f"stripe:{self.folder}/t.s"

    def clear(self) -> None:
        for entry in self.folder.iterdir():
            if entry.name not in self.sources:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for disk in ("one", "two"):
            for entry in (self.folder / disk).iterdir():
                entry.unlink()

    def make_old(self, case: Case) -> None:
        """Put an older target of the same kind there, all zeros."""
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

    def round(self, case: Case, ranks: int, resume: bool) -> None:
        """Kill a copy; and resume it until it ends."""
        self.clear()
        # Each of several arrays in one folder replaces its predecessor separately.
        old = self.chance.random() < 0.5 and not (len(case.arrays) > 1 and case.target.endswith("zarr"))
        if old:
            self.make_old(case)
        if (case.name, ranks) not in self.took:
            self.run(case, ranks, False)
            reference = self.folder / f"reference {case.name}{Path(target_path(case.target)).suffix}"
            if not reference.exists() and "stripe" not in case.target:
                os.rename(self.folder / target_path(case.target), reference)
                self.sources.add(reference.name)
            self.clear()
            if old:
                self.make_old(case)
        for _ in range(self.chance.randint(1, 4) if resume else 1):
            ended = self.run(case, ranks, resume, self.chance.uniform(-0.2, 1.0))
            self.seen[self.state(case, old)] += 1
            if ended:
                break
        self.run(case, ranks, resume)
        state = self.state(case, old)
        assert state == "whole", f"{case.name}: the target is {state} at the end"
        reference = self.folder / f"reference {case.name}{Path(target_path(case.target)).suffix}"
        if case.exact and reference.exists() and case.resumes:
            assert same(reference, self.folder / target_path(case.target)), (
                f"{case.name}: other bytes than without a kill"
            )
        left = {entry.name for entry in self.folder.iterdir()} - self.sources - {target_path(case.target)}
        if "stripe" in case.target:
            disks = {disk: len(os.listdir(self.folder / disk)) for disk in ("one", "two")}
            assert set(disks.values()) == {1}, f"{case.name}: files on the disks: {disks}"
        assert not left, f"{case.name}: {left} is left"


def same(first: Path, second: Path) -> bool:
    """Whether two files, or all files of two folders, have the same bytes."""
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
        kills.chance.shuffle(rounds)
        number = 0
        end = time.monotonic() + 60 * arguments.minutes
        while kills.kills.total() < arguments.kills and time.monotonic() < end:
            kills.round(*rounds[number % len(rounds)])
            number += 1
        os.chdir("/")
        for text, found in sorted(kills.kills.items()):
            print(f"{found:4} kills of {text}")
        print("after a kill the target was", ", ".join(f"{text} {found} times" for text, found in kills.seen.items()))
        print(
            f"{kills.kills.total()} kills in {number} rounds, no wrong target; {kills.resumed} copies "
            "went on with an earlier one"
        )


if __name__ == "__main__":
    main()
