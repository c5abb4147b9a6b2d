"""A random stress of distant and shared files, which checks every result against a model.

usage: mpiexec -n N python tests/stress/storm.py --seed S [options]      the seed makes the same run again

In each phase all ranks read and write at once, each with several pending requests that it waits for in random order.
All operations follow from the seed, so every rank knows what the others write (plan.py) and can check what it reads
(model.py). After each phase the ranks compare the contents of the files. One rank or host may fail (faults.py).
"""

import argparse
import faulthandler
import os
import socket
import sys
import time
import traceback
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from faults import LIMITS, Fault
from model import Model, find_wrong_bytes, join_ranges
from mpi4py import MPI
from plan import Operation, Plan, PlanParameters, draw_plan, expected_bytes
from targets import DistantFiles, SharedStripes

import plait

UNITS = (4096, 32768, 50_000, 1 << 20)  # stripe units of shared files, in bytes
READS_AT_ONCE = 4  # pending reads in the comparison after a phase
SETTLING_SECONDS = 1.5


class Storm:
    """One rank of the run."""

    def __init__(self, arguments: argparse.Namespace, kind: str, comm: MPI.Comm) -> None:
        self.seed, self.full, self.comm, self.rank = arguments.seed, arguments.full, comm, comm.rank
        self.random = np.random.default_rng([self.seed, 1 << 40])  # the same on all ranks
        hosts = comm.allgather(socket.gethostname())
        victim = arguments.victim if arguments.victim >= 0 else comm.size - 1
        self.fault = Fault(arguments.fault, victim, arguments.phases // 2, arguments.first, hosts)
        self.pause = arguments.rest  # seconds between a fault and the next request
        if arguments.first:
            self.fault.phase = 0
        # The ranks that compare results after each phase: all, and after the fault those that can reach each other.
        self.group = comm
        self.survivors = comm.Split(int(self.rank in self.fault.ranks_lost_to((victim + 1) % comm.size)), self.rank)
        self.survivors.Barrier()
        unit = int(self.random.choice(UNITS))
        if kind == "distant":
            self.target: Any = DistantFiles(arguments.folder, comm)
        else:
            self.target = SharedStripes(arguments.folder, comm, unit, not arguments.one_file)
        self.parameters = PlanParameters(self.target.files, self.windows(unit, kind), arguments.operations)
        self.parameters.is_uniform = arguments.full
        if arguments.full or self.random.random() < 0.3:
            self.parameters.max_bytes = 2_000_000
        self.models = [Model(self.parameters.windows) for _ in range(self.target.files)]
        self.lost: set[int] = set()  # ranks that were lost in an earlier phase
        self.phase = -1
        # Bounds of the size of each file in this phase: what this rank has written, and what all ranks may write.
        self.min_end = self.max_end = [0] * self.target.files
        self.slowest = 0.0  # seconds of the slowest call
        self.failures = 0  # number of calls that failed as they had to
        self.checked = 0  # number of bytes

    def windows(self, unit: int, kind: str) -> list[tuple[int, int]]:
        """Returns the ranges of files that are written: around ends of stripes, 2^31, 2^32 and 2^40."""
        if self.full:
            return [(0, 24_000_000)]
        ranks = self.comm.size if kind == "shared" else 1
        edge = 2**31 * ranks  # the component file on each disk then passes 2^31 bytes
        length = int(self.random.choice([3_000, 200_000, 2_000_000]))
        return [(0, length), (7 * unit - 100, 200), (edge - 3 * unit, 6 * unit), (2**32 - 50, 100), (2**40 - 999, 5000)]

    def run(self, phases: int) -> None:
        for phase in range(phases):
            self.phase = phase
            self.maybe_resize_file()
            self.run_phase(phase)
            if phase == self.fault.phase and self.fault.ranks_lost_to(self.rank):
                self.lost = self.fault.ranks_lost_to(self.rank)

    def describe(self, text: str) -> str:
        """Returns a text for an error, with the rank, the seed and the phase before it."""
        return f"rank {self.rank}, seed {self.seed}, phase {self.phase}: {text}"

    def maybe_resize_file(self) -> None:
        """In some phases, resizes one of the files; collective."""
        if self.lost or self.random.random() < 0.7 or (self.full and self.phase < 3):
            return
        file = int(self.random.integers(self.target.files))
        end = self.models[file].end
        size = int(self.random.choice([0, self.random.integers(end + 1), end + self.random.integers(1 << 33)]))
        if self.full:
            size = 0
        self.target.resize(size, file, self.rank)
        self.comm.Barrier()
        self.models[file].resize(size)

    def run_phase(self, phase: int) -> None:
        """Runs the operations of all ranks in one phase, and compares the files afterwards."""
        ends = [model.end for model in self.models]
        plans = [draw_plan(self.seed, phase, rank, self.parameters, ends) for rank in range(self.comm.size)]
        for lost in self.lost:
            plans[lost] = Plan()
        self.writes: list[list[Operation]] = [[] for _ in self.models]
        for operation in (operation for rank_plan in plans for operation in rank_plan.writes()):
            self.writes[operation.file].append(operation)
        # After a rank is lost, the size of a shared file is unknown, so the bounds of earlier phases still apply.
        self.max_end = [max(pair) for pair in zip(ends, self.max_end, strict=True)] if self.lost else list(ends)
        for operation in (operation for writes in self.writes for operation in writes if operation.count):
            self.max_end[operation.file] = max(self.max_end[operation.file], operation.end)
        self.min_end = list(ends)
        self.now_lost = self.fault.ranks_lost_to(self.rank) if phase == self.fault.phase else set()
        if phase == self.fault.phase and self.fault.first:
            # After the first open, each process makes one connection to another host in the background.  Without a
            # connection that once worked it cannot distinguish a lost host from a firewall, and its error differs.
            time.sleep(SETTLING_SECONDS)
        self.group.Barrier()
        self.operate(phase, plans[self.rank])
        if self.now_lost:
            self.group = self.survivors
            time.sleep(SETTLING_SECONDS)  # messages of the lost ranks may still arrive
        self.agree_on_result(plans)

    def operate(self, phase: int, own_plan: Plan) -> None:
        """Runs this rank's operations, and checks the results of reads and the errors."""
        fault_event = -1
        if phase == self.fault.phase:
            fault_event = 0 if self.fault.first else len(own_plan.events) // 2
        requests: dict[int, Any] = {}
        for event, operation in enumerate(own_plan.events):
            if event == fault_event and self.rank == self.fault.victim:
                self.fault.inject()
            if event == fault_event and self.fault.first:
                time.sleep(self.pause)
            begin = time.monotonic()
            error = None
            actual = None
            try:
                if operation.kind in ("size", "sync"):
                    actual = (
                        getattr(self.target, operation.kind)(operation.file) if event == operation.begin_event else None
                    )
                elif event == operation.begin_event:
                    requests[operation.tag] = self.begin(operation)
                else:
                    actual = requests.pop(operation.tag).wait()
            except plait.StoreError as caught:
                error = caught
            self.slowest = max(self.slowest, time.monotonic() - begin)
            if error is not None:
                self.check_failure(operation, error)
            elif operation.kind == "size" and event == operation.begin_event:
                assert self.min_end[operation.file] <= actual <= self.max_end[operation.file], self.describe(
                    f"{operation}: {actual}"
                )
            elif operation.kind == "read" and event == operation.wait_event:
                self.check_read(operation, actual, own_plan)
            elif operation.kind == "write" and event == operation.wait_event and operation.count:
                self.min_end[operation.file] = max(self.min_end[operation.file], operation.end)

    def begin(self, operation: Operation) -> Any:
        if operation.kind == "write":
            return self.target.iwrite(
                operation.offset, expected_bytes(operation.tag, operation.offset, operation.count), operation.file
            )
        operation.known_end = self.min_end[operation.file]
        return self.target.iread(operation.offset, operation.count, operation.file)

    def ranks_needed(self, operation: Operation) -> set[int]:
        """Returns the ranks without which an operation fails."""
        if operation.kind in ("read", "write"):
            return self.target.servers(operation.offset, operation.count, operation.file)
        return set(range(self.comm.size)) if self.target.files == 1 else {operation.file}

    def check_failure(self, operation: Operation, error: plait.StoreError) -> None:
        """Checks that an operation may have failed with this error: full disk, lost rank, or read past the end."""
        operation.failed = True
        lost_ranks = self.lost | self.now_lost
        text = str(error)
        if self.full and operation.kind == "write":
            assert "No space left" in text, self.describe(f"{operation}: {error}")
            self.failures += 1
        elif lost_ranks and any(f"rank {rank} has ended or left" in text for rank in lost_ranks):
            # Only all ranks together know the size of a shared file, so a read past the known size needs all of them.
            needs_all = operation.kind == "read" and self.target.files == 1 and operation.end > operation.known_end
            assert needs_all or self.ranks_needed(operation) & lost_ranks, self.describe(f"{operation}: {error}")
            self.failures += 1
        else:
            assert operation.kind == "read", self.describe(f"{operation}: {error}")
            assert operation.end > operation.known_end, self.describe(f"{operation} is within the file: {error}")
            assert "ends at" in text, self.describe(f"{operation}: {error}")

    def check_read(self, operation: Operation, actual: np.ndarray, own_plan: Plan) -> None:
        lost_ranks = self.ranks_needed(operation) & self.lost
        if operation.count and lost_ranks:
            # Ranks on the same host can read the file of a lost rank without its help.
            assert all(self.fault.hosts[rank] == self.fault.hosts[self.rank] for rank in lost_ranks), self.describe(
                f"{operation} succeeded"
            )
            return
        assert operation.count == 0 or operation.end <= self.max_end[operation.file], self.describe(
            f"{operation} passes the end and succeeded"
        )
        model, writes = self.models[operation.file], self.writes[operation.file]
        if self.lost and self.target.files == 1 and operation.end > model.end:
            return  # the bytes beyond the known size are unknown
        before = [
            w
            for w in own_plan.writes()
            if w.file == operation.file and w.wait_event < operation.begin_event and not w.failed
        ]
        self.check_bytes(
            str(operation),
            find_wrong_bytes(
                actual,
                operation.offset,
                model.read(operation.offset, operation.count),
                writes,
                before,
                lambda write: write.rank != self.rank or write.begin_event < operation.wait_event,
            ),
            operation.offset,
        )
        self.checked += operation.count

    def check_bytes(self, what: str, wrong: np.ndarray, offset: int) -> None:
        if wrong.size:
            text = f"{wrong.size} wrong bytes, at {offset + int(wrong[0])} to {offset + int(wrong[-1])}"
            raise AssertionError(self.describe(f"{what}: {text}"))

    def agree_on_result(self, plans: list[Plan]) -> None:
        """Compares the files with the model on all ranks, and updates the model for the next phase; collective."""
        lost_ranks = self.lost | self.now_lost
        failed = {operation.tag for operation in plans[self.rank].operations if operation.failed}
        failed = set().union(*self.group.allgather(failed))
        for write in (write for writes in self.writes for write in writes):
            write.failed = write.tag in failed or write.rank in self.now_lost
        for file, model in enumerate(self.models):
            if self.target.files > 1 and file in lost_ranks:
                continue
            writes = self.writes[file]
            done = [operation for operation in writes if not operation.failed]
            if self.target.files > 1 or not lost_ranks:
                model_end = max([model.end, *(operation.end for operation in done if operation.count)])
                sizes = self.group.allgather(self.target.size(file))
                assert len(set(sizes)) == 1, self.describe(f"file {file} has several sizes: {sizes}")
                assert model_end <= sizes[0] <= self.max_end[file], self.describe(
                    f"size {sizes[0]}, not {model_end} to {self.max_end[file]}"
                )
                model.end = sizes[0]
            self.verify(file, writes, done, lost_ranks)
        self.group.Barrier()

    def verify(self, file: int, writes: list[Operation], done: list[Operation], lost_ranks: set[int]) -> None:
        """Reads all written ranges of a file, checks the bytes, and checks that all ranks find the same bytes."""
        model = self.models[file]
        ranges = join_ranges((operation.offset, min(operation.end, model.end)) for operation in writes)
        if lost_ranks:
            ranges = [piece for begin, end in ranges for piece in self.target.pieces(begin, end, file)]
            ranges = [
                (begin, end) for begin, end in ranges if not self.target.servers(begin, end - begin, file) & lost_ranks
            ]
        checksum = 0
        for first in range(0, len(ranges), READS_AT_ONCE):
            batch = ranges[first : first + READS_AT_ONCE]
            requests = [self.target.iread(begin, end - begin, file) for begin, end in batch]
            for (begin, end), request in zip(batch, requests, strict=True):
                actual = request.wait()
                wrong = find_wrong_bytes(actual, begin, model.read(begin, end - begin), writes, done)
                self.check_bytes(f"{begin} to {end} of file {file} afterwards", wrong, begin)
                model.write(begin, actual)
                checksum = zlib.crc32(actual, checksum)
                self.checked += end - begin
        checksums = self.group.allgather(checksum)
        assert len(set(checksums)) == 1, self.describe(f"ranks find different bytes in file {file}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--kind", nargs="+", choices=("distant", "shared"), default=["distant", "shared"])
    parser.add_argument("--one-file", action="store_true", help="a shared file that is not striped")
    parser.add_argument("--folder", default="/var/tmp", help="on each rank's disk")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phases", type=int, default=6)
    parser.add_argument("--operations", type=int, default=14, help="of each rank in a phase")
    parser.add_argument("--fault", choices=("none", "kill", "cut", "stop", "flap"), default="none")
    parser.add_argument("--victim", type=int, default=-1, help="the rank with the fault; default: the last one")
    parser.add_argument("--first", action="store_true", help="before the first request, rather than in the middle")
    parser.add_argument("--rest", type=float, default=1, help="seconds after a fault before the first request")
    parser.add_argument("--full", action="store_true", help="write until the disks are full")
    parser.add_argument("--report", help="a folder that all ranks see, for a file of each rank that ends well")
    parser.add_argument("--limit", type=int, default=60, help="seconds after which a rank prints its stack and exits")
    return parser.parse_args()


def run(arguments: argparse.Namespace, kind: str, comm: MPI.Comm) -> Storm:
    """Runs the stress with one kind of files, and checks that it closes in time and leaves no file behind."""
    storm = Storm(arguments, kind, comm)
    try:
        storm.run(arguments.phases)
        before = time.monotonic()
        storm.target.close() if not storm.lost else storm.target.abandon()
        storm.slowest = max(storm.slowest, time.monotonic() - before)
        limit = LIMITS.get(arguments.fault, 30.0)
        assert storm.slowest < limit, storm.describe(f"a call took {storm.slowest:.1f} s, more than {limit:.0f}")
        storm.group.Barrier()
        # A killed rank leaves its own distant file.
        folder = Path(arguments.folder)
        left = [] if storm.lost and kind == "distant" else sorted(path.name for path in folder.glob("*stress-*"))
        assert not left, storm.describe(f"left behind: {left}")
    except BaseException as error:
        text = storm.describe(f"{kind}: {type(error).__name__}: {error}")
        print(f"failed: {text}", file=sys.stderr, flush=True)
        traceback.print_exc()
        if arguments.report:
            Path(arguments.report, f"failed-{storm.rank}").write_text(text)
        comm.Abort(3)
        raise
    return storm


def main() -> None:
    arguments = parse_arguments()
    faulthandler.enable()
    faulthandler.dump_traceback_later(arguments.limit, exit=True)
    comm = MPI.COMM_WORLD
    storms = [run(arguments, kind, comm) for kind in arguments.kind]
    checked, failures = sum(storm.checked for storm in storms), sum(storm.failures for storm in storms)
    slowest = max(storm.slowest for storm in storms)
    summary = f"{checked} bytes checked, {failures} failures reported, slowest call {slowest:.2f} s"
    if arguments.report:
        Path(arguments.report, f"done-{comm.rank}").write_text(summary)
    if storms[-1].lost:
        os._exit(0)  # MPI_Finalize would wait for the lost ranks
    if comm.rank == 0:
        print(f"seed {arguments.seed}: {summary}", flush=True)


if __name__ == "__main__":
    main()
