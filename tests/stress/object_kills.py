"""Writers of objects that are killed at random moments, with puts, uploads in parts, copies and Zarr arrays.

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
    """A kind of copy."""

    name: str
    source: str
    target: str
    options: tuple[str, ...] = ()
    resumes: bool = False
    replaces: bool = True
    """False for arrays of many objects: an older one is removed before the new one is complete."""


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
    chance = np.random.default_rng(4)
    arrays = {
        "small.npy": chance.integers(0, 1 << 30, (512, 640), "i4"),
        "large.npy": chance.integers(0, 1 << 60, (2048, 2560), "i8"),  # five parts
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
    """A run of the test."""

    def __init__(self, folder: Path, seed: int, server: ObjectServer) -> None:
        self.folder, self.chance, self.server = folder, random.Random(seed), server
        self.arrays = make_sources(folder)
        self.took: dict[str, tuple[float, float]] = {}  # until the first request, and from there to the end
        self.kills: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.uploads = 0
        self.resumed = 0

    def requests(self) -> list[dict[str, str]]:
        """Return the requests since the last call, except those of this program."""
        return [request for request in self.server.take_log() if request["method"] in ("PUT", "POST")]

    def run(self, case: Case, resume: bool, kill_at: float | None = None) -> bool:
        """Return whether a copy has come to its end.

        kill_at  when it is killed, as a share of the time from its first put to its end
        """
        command = [sys.executable, "-m", "plait.cli", "copy", case.source, f"{BUCKET}/{case.target}", *case.options]
        self.server.take_log()
        begin = seen = time.monotonic()
        with subprocess.Popen(
            command + ["--resume"] * resume, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            wait = None
            if kill_at is not None:
                start, moving = self.took[case.name]
                wait = max(start + kill_at * moving, 0.01)
            else:
                while process.poll() is None and not self.requests():
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
        self.took.setdefault(case.name, (seen - begin, time.monotonic() - seen))
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

    def state(self, case: Case, old: bool) -> str:
        """Return what the target is; it must be one of these.  old: whether there was one"""
        found = self.read(case)
        if found is None:
            assert not old or not case.replaces, f"{case.name}: the old target has gone"
            return "absent"
        if np.array_equal(found, self.arrays[case.source]):
            return "whole"
        assert old, f"{case.name}: the target is neither absent nor whole"
        assert not found.any(), f"{case.name}: the target is neither old nor new"
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
        """Remove the objects of a Zarr array, as the error of a later copy says if they have no metadata."""
        objects = _core.open_objects(f"{BUCKET}/t.zarr")
        for name in objects.names():
            objects.remove(name)

    def unfinished(self) -> int:
        """Return the number of unfinished uploads."""
        return len(json.loads(self.server.send_unsigned("GET", "/-/uploads")))

    def clean(self) -> None:
        """Abort all uploads that kills have left."""
        for name in ("t.npy", "t.h5"):
            command = [sys.executable, "-m", "plait.cli", "clean", f"{BUCKET}/{name}", "--older", "0"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        assert not self.unfinished(), "plait clean has left an upload"

    def make_old(self, case: Case) -> None:
        """Put an older target of the same kind there, all zeros."""
        array = self.arrays[case.source]
        with plait.open(f"{BUCKET}/{case.target}", "w", shape=array.shape, dtype=array.dtype) as file:
            file.write(np.zeros_like(array))

    def round(self, case: Case) -> None:
        """Kill a copy some times, and let it end."""
        self.clear()
        if case.name not in self.took:
            self.run(case, False)
            self.clear()
        old = self.chance.random() < 0.5
        if old:
            self.make_old(case)
        for _ in range(self.chance.randint(1, 3)):
            before = self.unfinished()
            ended = self.run(case, case.resumes, self.chance.uniform(-0.1, 1.1))
            state = self.state(case, old)
            self.seen[state] += 1
            self.uploads += self.unfinished() > before
            if ended or state == "whole":
                break
            if not case.replaces and state == "absent":
                self.remove_chunks()
            old = old and state == "old"
        left = self.unfinished()
        self.run(case, case.resumes)
        self.resumed += case.resumes and self.unfinished() < left
        state = self.state(case, old)
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
            kills.round(CASES[number % len(CASES)])
            number += 1
        kills.clean()
        resuming = sum(count for text, count in kills.kills.items() if text.endswith("resumed"))
        assert kills.resumed > 0 or resuming < 20, f"none of {resuming} kills has left an upload that was resumed"
        for text, count in sorted(kills.kills.items()):
            print(f"{count:4} kills of {text}")
        print("after a kill the target was", ", ".join(f"{text} {count} times" for text, count in kills.seen.items()))
        print(f"{kills.uploads} kills left an upload; {kills.resumed} copies found one and resumed it")
        print(f"{kills.kills.total()} kills in {number} rounds, no wrong target")


if __name__ == "__main__":
    main()
