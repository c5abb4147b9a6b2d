"""Kills `plait copy` to an object store at random moments: single puts, uploads in parts and Zarr arrays.

usage: python tests/stress/object_kills.py --kills N --seed S [--minutes M]

After each kill the object or array must be absent, as it was before, or whole. A killed copy is then repeated, with
--resume or without, and must end with the whole target; chunks of a killed Zarr array are removed before. At the end
`plait clean` must leave no upload.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from object_servers import ObjectServer, object_server
from s3_faults import REGION
from s3_server import ACCESS, SECRET

import plait
from plait import _core

BUCKET = "s3://public"


@dataclass(frozen=True)
class Case:
    """A kind of copy: the arguments of `plait copy`, and how its target appears."""

    name: str
    source: str
    target: str
    options: tuple[str, ...] = ()
    resumes: bool = False  # with --resume
    replaces: bool = True  # False for arrays of many objects: an old target is removed before the new one is complete


CASES = [
    Case("one put", "small.npy", "t.npy"),
    Case("one put of HDF5", "small.npy", "t.h5::x", ("--chunks", "64,64")),
    Case("upload in parts", "large.npy", "t.npy"),
    Case("upload in parts, resumed", "large.npy", "t.npy", resumes=True),
    Case("upload of HDF5, resumed", "large.npy", "t.h5::x", ("--chunks", "512,512"), resumes=True),
    Case("Zarr", "small.npy", "t.zarr", ("--chunks", "32,64"), replaces=False),
    Case("Zarr in shards", "large.npy", "t.zarr", ("--chunks", "128,128", "--shards", "512,512"), replaces=False),
]


def make_sources(folder: Path) -> dict[str, np.ndarray]:
    """Write the sources, and return their arrays."""
    random_source = np.random.default_rng(4)
    arrays = {
        "small.npy": random_source.integers(0, 1 << 30, (512, 640), "i4"),
        "large.npy": random_source.integers(0, 1 << 60, (2048, 2560), "i8"),  # five parts
    }
    for name, array in arrays.items():
        np.save(folder / name, array)
    return arrays


def use_server(server: ObjectServer) -> None:
    """Set the environment of programs that use the server."""
    os.environ |= {
        "AWS_ACCESS_KEY_ID": ACCESS,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": server.endpoint,
        "NO_PROXY": server.host,
        "no_proxy": server.host,
    }


class Kills:
    """All rounds of a run of this program, and what they have counted."""

    def __init__(self, folder: Path, seed: int, server: ObjectServer) -> None:
        self.folder, self.random, self.server = folder, random.Random(seed), server
        self.arrays = make_sources(folder)
        # The seconds of each case: from its start to its first write request, and from there to its end.
        self.durations: dict[str, tuple[float, float]] = {}
        self.kills: Counter[str] = Counter()  # by case
        self.states: Counter[str] = Counter()  # of targets after a kill
        self.uploads = 0  # number of kills that have left an unfinished upload
        self.resumed = 0  # number of copies that have continued an upload

    def take_write_requests(self) -> list[dict[str, str]]:
        """Return the requests since the last call that write."""
        return [request for request in self.server.take_log() if request["method"] in ("PUT", "POST")]

    def run(self, case: Case, resume: bool, kill_at: float | None = None) -> bool:
        """Run a copy, kill it unless kill_at is None, and return True if it ended before the kill.

        kill_at  when to kill it, as a fraction of the usual time from its first write request to its end
        """
        command = [sys.executable, "-m", "plait.cli", "copy", case.source, f"{BUCKET}/{case.target}", *case.options]
        self.server.take_log()
        begin = seen = time.monotonic()
        with subprocess.Popen(
            command + ["--resume"] * resume, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            wait = None
            if kill_at is not None:
                start, writing = self.durations[case.name]
                wait = max(start + kill_at * writing, 0.01)
            else:
                while process.poll() is None and not self.take_write_requests():
                    time.sleep(0.005)
                seen = time.monotonic()
            try:
                _, errors = process.communicate(timeout=wait)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                time.sleep(0.1)  # requests that have arrived are still answered
                self.kills[case.name] += 1
                return False
        if process.returncode != 0:
            raise AssertionError(f"{command} failed: {errors.decode()}")
        self.durations.setdefault(case.name, (seen - begin, time.monotonic() - seen))
        return True

    def read(self, case: Case) -> np.ndarray | None:
        """Return the array of the target, or None if there is none."""
        try:
            with plait.open(f"{BUCKET}/{case.target}") as file:
                return np.asarray(file.read())
        except plait.StoreError as error:
            if "there is no" in str(error):
                return None
            raise

    def check_state(self, case: Case, had_old: bool) -> str:
        """Return the state of the target: absent, old or whole; any other state, or a lost old target, is an error.

        had_old  whether there was an older target before the copy
        """
        actual = self.read(case)
        if actual is None:
            assert not had_old or not case.replaces, f"{case.name}: the old target has gone"
            return "absent"
        if np.array_equal(actual, self.arrays[case.source]):
            return "whole"
        assert had_old, f"{case.name}: the target is neither absent nor whole"
        assert not actual.any(), f"{case.name}: the target is neither old nor new"
        return "old"

    def clear(self) -> None:
        """Remove all objects and uploads."""
        self.remove_chunks()
        for name in ("t.npy", "t.h5"):
            self.server.send_unsigned("DELETE", f"/public/{name}")
            unfinished = _core.unfinished_uploads(f"{BUCKET}/{name}")
            assert unfinished is not None
            for key, upload, _ in unfinished.list():
                unfinished.abort(key, upload)

    def remove_chunks(self) -> None:
        """Remove the objects of an incomplete Zarr array, as the error of a later copy tells its user to do."""
        objects = _core.open_objects(f"{BUCKET}/t.zarr")
        for name in objects.names():
            objects.remove(name)

    def count_unfinished_uploads(self) -> int:
        """Return the number of unfinished uploads."""
        return len(json.loads(self.server.send_unsigned("GET", "/-/uploads")))

    def clean(self) -> None:
        """Abort all unfinished uploads by `plait clean`."""
        for name in ("t.npy", "t.h5"):
            command = [sys.executable, "-m", "plait.cli", "clean", f"{BUCKET}/{name}", "--older", "0"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        assert not self.count_unfinished_uploads(), "plait clean has left an upload"

    def make_old_target(self, case: Case) -> None:
        """Write an older target of the same kind with zeros."""
        array = self.arrays[case.source]
        with plait.open(f"{BUCKET}/{case.target}", "w", shape=array.shape, dtype=array.dtype) as file:
            file.write(np.zeros_like(array))

    def run_round(self, case: Case) -> None:
        """Kill a copy once or several times, and let it end."""
        self.clear()
        if case.name not in self.durations:
            self.run(case, resume=False)
            self.clear()
        has_old = self.random.random() < 0.5
        if has_old:
            self.make_old_target(case)
        for _ in range(self.random.randint(1, 3)):
            before = self.count_unfinished_uploads()
            has_ended = self.run(case, case.resumes, self.random.uniform(-0.1, 1.1))
            state = self.check_state(case, has_old)
            self.states[state] += 1
            self.uploads += self.count_unfinished_uploads() > before
            if has_ended or state == "whole":
                break
            if not case.replaces and state == "absent":
                self.remove_chunks()
            has_old = has_old and state == "old"
        before = self.count_unfinished_uploads()
        self.run(case, case.resumes)
        self.resumed += case.resumes and self.count_unfinished_uploads() < before
        state = self.check_state(case, has_old)
        assert state == "whole", f"{case.name}: the target is {state} at the end"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=1e6, help="end after so many minutes in any case")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, object_server() as server:
        use_server(server)
        kills = Kills(Path(name), arguments.seed, server)
        end = time.monotonic() + 60 * arguments.minutes
        number = 0
        while kills.kills.total() < arguments.kills and time.monotonic() < end:
            kills.run_round(CASES[number % len(CASES)])
            number += 1
        kills.clean()
        resumable = sum(count for text, count in kills.kills.items() if text.endswith("resumed"))
        assert kills.resumed > 0 or resumable < 20, f"none of {resumable} kills has left an upload that was resumed"
        for text, count in sorted(kills.kills.items()):
            print(f"{count:4} kills of {text}")
        print("after a kill the target was", ", ".join(f"{text} {count} times" for text, count in kills.states.items()))
        print(f"{kills.uploads} kills left an upload; {kills.resumed} copies found one and resumed it")
        print(f"{kills.kills.total()} kills in {number} rounds, no wrong target")


if __name__ == "__main__":
    main()
