"""Kills one rank of programs on several hosts that write one object or Zarr array together, at random moments.

usage: python tests/stress/object_host_kills.py --kills N --seed S [--hosts H] [--ranks R] [--minutes M]

After each kill the job must end, and the target must be absent, as it was before, or whole. The same job must then
succeed. The hosts' own disks must have no bytes left. The program runs itself by scripts/hosts.py, which makes the
hosts.
"""

import argparse
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import plait
from plait import _core

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from object_servers import ObjectServer, object_server
from s3_faults import REGION
from s3_server import ACCESS, SECRET
from several_hosts.spec import HEAD, HEAD_ADDRESS

HOSTS = Path(__file__).parents[2] / "scripts/hosts.py"
SHAPE = (1536, 2048)
END_SECONDS = 120  # a job that takes longer after a kill counts as one that hangs


@dataclass(frozen=True)
class Case:
    """A target, and how the ranks write it."""

    name: str
    url: str
    options: tuple[tuple[str, object], ...] = ()
    copies: bool = False  # by plait.copy from a file that all hosts see
    replaces: bool = True  # False for arrays of many objects: an old target is removed before the new one is complete


CASES = [
    Case("npy", "s3://public/t.npy"),
    Case("contiguous HDF5", "s3://public/t.h5::x"),
    Case("HDF5 in chunks", "s3://public/t.h5::x", (("chunks", (512, 512)), ("codec", "zlib:1"))),
    Case("Zarr", "s3://public/t.zarr", (("chunks", (256, 256)),), replaces=False),
    Case("copy to npy", "s3://public/t.npy", copies=True),
    Case("copy to HDF5 in chunks", "s3://public/t.h5::x", (("chunks", (512, 512)),), copies=True),
]


def make_array() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 1 << 60, SHAPE, "i8")  # 24 MiB: several parts of an upload


def write_as_rank(case: Case, source: str, victim: int, after: float) -> None:
    """Write the target as one rank of several. Rank `victim` is killed `after` seconds later."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    whole = np.load(source, mmap_mode="r")
    comm.Barrier()
    begin = time.monotonic()
    if comm.rank == victim:
        # Without a handler SIGALRM ends the process as SIGKILL does: none of its code runs any more.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, after)
    options = dict(case.options)
    if case.copies:
        plait.copy(source, case.url, comm=comm, memory=4 << 20, **options)
    else:
        layout = plait.Layout(SHAPE, "(cyclic(5), *)", grid=(comm.size,))
        part = np.ascontiguousarray(whole[np.ix_(*layout.indices(comm.rank))])
        with plait.open(case.url, "w", comm=comm, shape=SHAPE, dtype="i8", **options) as file:
            file.write(part, layout)
    signal.setitimer(signal.ITIMER_REAL, 0)
    comm.Barrier()
    if comm.rank == 0:
        print(f"seconds: {time.monotonic() - begin}")


class Kills:
    """All rounds of a run of this program, and what they have counted."""

    def __init__(self, folder: Path, arguments: argparse.Namespace, server: ObjectServer) -> None:
        self.folder, self.server = folder, server
        self.random = random.Random(arguments.seed)
        self.hosts, self.ranks = arguments.hosts, arguments.ranks
        self.array = make_array()
        self.source = folder / "source.npy"
        np.save(self.source, self.array)
        self.seconds: dict[str, float] = {}  # of each case without a kill
        self.kills: Counter[str] = Counter()  # by case
        self.states: Counter[str] = Counter()  # of targets after a kill
        self.uploads = 0  # number of kills that have left an unfinished upload

    def run(self, case: Case, victim: int = -1, after: float = 0) -> bool:
        """Run a job, kill its rank `victim` unless that is -1, and return True if it ended before the kill."""
        number = CASES.index(case)
        command = [sys.executable, __file__, "--as-rank", f"{number},{victim},{after}", "--source", self.source]
        begin = time.monotonic()
        done = subprocess.run(
            ["mpiexec", "-n", str(self.ranks), *map(str, command)],
            capture_output=True,
            text=True,
            timeout=END_SECONDS + after,
            check=False,
        )
        if done.returncode == 0:
            found = re.search(r"seconds: (\S+)", done.stdout)
            assert found, done.stdout + done.stderr
            self.seconds.setdefault(case.name, float(found[1]))
            return True
        assert victim >= 0, f"{case.name} failed: {done.stdout}{done.stderr}"
        self.kills[case.name] += 1
        assert time.monotonic() - begin < END_SECONDS, f"{case.name}: the job has ended late"
        return False

    def find_state(self, case: Case) -> str:
        """Return "absent", "old" or "whole"; any other state of the target is an error."""
        try:
            with plait.open(case.url) as file:
                found = np.asarray(file.read())
        except plait.StoreError as error:
            if "there is no" in str(error):
                return "absent"
            raise
        if np.array_equal(found, self.array):
            return "whole"
        assert found.shape == (3,), f"{case.name}: the target is neither absent, old nor whole"
        return "old"

    def clear(self) -> None:
        """Remove all objects and uploads."""
        objects = _core.open_objects("s3://public/t.zarr")
        for name in objects.names():
            objects.remove(name)
        for name in ("t.npy", "t.h5"):
            self.server.send_unsigned("DELETE", f"/public/{name}")
            unfinished = _core.unfinished_uploads(f"s3://public/{name}")
            assert unfinished is not None
            for key, upload, _ in unfinished.list():
                unfinished.abort(key, upload)

    def count_unfinished_uploads(self) -> int:
        return len(json.loads(self.server.send_unsigned("GET", "/-/uploads")))

    def check_disks(self) -> None:
        """Check that no file with bytes is on the disk of any host."""
        for host in range(self.hosts):
            command = ["on-host", f"host{host}", "find", "/var/tmp", "-type", "f", "-size", "+0"]
            found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert not found, f"files are left on host{host}: {found}"

    def run_round(self, case: Case) -> None:
        """Kill one rank of a job, and repeat the job without a kill."""
        self.clear()
        if case.name not in self.seconds:
            self.run(case)
            self.clear()
        has_old = self.random.random() < 0.5
        if has_old:
            self.make_old(case)
        before = self.count_unfinished_uploads()
        victim = self.random.randrange(self.ranks)
        self.run(case, victim, max(0.001, self.random.uniform(-0.05, 1.05) * self.seconds[case.name]))
        state = self.find_state(case)
        self.states[state] += 1
        assert state != "absent" or not has_old or not case.replaces, f"{case.name}: the old target has gone"
        assert state != "old" or has_old
        self.uploads += self.count_unfinished_uploads() > before
        self.check_disks()
        if state == "absent" and not case.replaces:
            self.clear()  # chunks of a killed job, as the error of the next one would tell its user
        self.run(case)
        assert self.find_state(case) == "whole", f"{case.name}: the target is not whole at the end"

    def make_old(self, case: Case) -> None:
        with plait.open(case.url, "w", shape=(3,), dtype="i8") as file:
            file.write(np.arange(3))


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
        "TMPDIR": "/var/tmp",
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=1e6, help="end after so many minutes in any case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--as-rank", help=argparse.SUPPRESS)  # case, victim and seconds, for the ranks of a job
    parser.add_argument("--source", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.as_rank:
        number, victim, after = arguments.as_rank.split(",")
        write_as_rank(CASES[int(number)], arguments.source, int(victim), float(after))
        return
    if socket.gethostname() != HEAD:
        hosts = [sys.executable, HOSTS, "exec", "--hosts", str(arguments.hosts), "--"]
        sys.exit(subprocess.run([*hosts, sys.executable, *sys.argv], check=False).returncode)
    with tempfile.TemporaryDirectory(dir="/tmp") as name, object_server(host=HEAD_ADDRESS) as server:
        use_server(server)
        kills = Kills(Path(name), arguments, server)
        end = time.monotonic() + 60 * arguments.minutes
        rounds = 0
        while kills.kills.total() < arguments.kills and time.monotonic() < end:
            kills.run_round(CASES[rounds % len(CASES)])
            rounds += 1
        kills.clear()
        for text, count in sorted(kills.kills.items()):
            print(f"{count:4} kills of {text}")
        print("after a kill the target was", ", ".join(f"{text} {count} times" for text, count in kills.states.items()))
        print(f"{kills.uploads} kills left an upload; {kills.kills.total()} kills in {rounds} rounds, no wrong target")


if __name__ == "__main__":
    main()
