"""The ranks of `plait bench columbus`: ``mpiexec -n P python -m plait_bench.columbus.ranks JOB``."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import plait
from plait_bench.columbus.job import LOCATIONS, ColumbusJob
from plait_bench.columbus.store import Store, open_store
from plait_bench.directory import Changes, Directory
from plait_bench.ranks import Ranks, run_job
from plait_bench.records import (
    DamagedError,
    decode_record,
    encode_record,
    estimate_value_count,
    expected_values,
    first_values,
    max_record_bytes,
    next_values,
)


@dataclass(frozen=True)
class _Round:
    """One round in one location: the objects that it uses, and the counts and times of this rank so far."""

    store: Store
    directory: Directory
    changes: Changes
    counts: dict[str, int] = field(
        default_factory=lambda: {"requests": 0, "read_bytes": 0, "write_bytes": 0, "from_disk": -_device_bytes_read()}
    )
    times: dict[str, float] = field(default_factory=lambda: {"read_seconds": 0.0, "write_seconds": 0.0})


class _Columbus(Ranks):
    """Ranks that take records from a queue, decompress and update them, and write them back."""

    def __init__(self, job: ColumbusJob) -> None:
        super().__init__()
        self._job = job
        self._value_count = self._comm.bcast(estimate_value_count(job.size) if self._comm.rank == 0 else 0)
        self._buffer = bytearray(max_record_bytes(self._value_count))
        folder = Path(job.folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._stores = {
            location: open_store(location, folder, job.memory, job.size, self._comm) for location in LOCATIONS
        }
        self._directories: dict[str, Directory] = {}

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        for location, store in self._stores.items():
            self._directories[location] = self._fill(store)
            self._report(
                "filled",
                location=location,
                description=store.description,
                bytes=int(self._directories[location].size.sum()),
            )
        for number in range(self._job.rounds + 1):
            # The locations alternate, so that neither always follows the writes of the other.
            for location in LOCATIONS if number % 2 else reversed(LOCATIONS):
                sums = self._update_all_records(location, number)
                if number:  # round 0 warms up
                    self._report("round", location=location, **sums)
        for location in LOCATIONS:
            self._check(location)
            self._report("checked", location=location, updates=int(self._directories[location].version.sum()))
        for store in self._stores.values():
            store.close()

    def _fill(self, store: Store) -> Directory:
        """Write all records; each rank writes every P-th one of P ranks."""
        own_records = range(self._comm.rank, self._job.records, self._comm.size)
        compressed = {
            record: encode_record(record, 0, first_values(record, self._value_count)) for record in own_records
        }
        sizes = np.zeros(self._job.records, np.int64)
        for record, data in compressed.items():
            sizes[record] = len(data)
        all_sizes = np.empty_like(sizes)
        self._comm.Allreduce(sizes, all_sizes)
        directory = Directory.of_sizes(all_sizes.tolist())
        for record, data in compressed.items():
            store.write(int(directory.offset[record]), data)
        self._comm.Barrier()
        return directory

    def _update_all_records(self, location: str, number: int) -> dict[str, Any]:
        """Update every record once, in random order; return the counts and times, summed over the ranks."""
        store, directory = self._stores[location], self._directories[location]
        changes = Changes(directory, len(self._buffer), self._comm)
        tasks = Path(self._job.scratch) / f"tasks-{location}-{number}.npy"
        if self._comm.rank == 0:
            np.save(tasks, np.random.default_rng(number).permutation(self._job.records))
        store.drop()
        self._comm.Barrier()
        round_ = _Round(store, directory, changes)
        counts, times = round_.counts, round_.times
        # The shared file position of stream mode 1 distributes the tasks: an idle rank reads the next one.
        with plait.open(tasks, comm=self._comm) as file, file.stream(mode=1) as queue:
            self._comm.Barrier()
            # Each rank starts its clock between two barriers, so that no rank can take a task before all clocks run.
            begin = time.perf_counter()
            self._comm.Barrier()
            while (task := queue.read(1)).size:
                self._update(int(task[0]), round_)
            self._comm.Barrier()
            seconds = time.perf_counter() - begin
        counts["from_disk"] += _device_bytes_read()
        counts["moved"] = changes.moved
        if not (changes.exchange() == 1).all():
            raise plait.Error("some records were not updated once in a round")
        numbers = np.array([*counts.values(), *times.values()], np.float64)
        total = np.empty_like(numbers)
        self._comm.Allreduce(numbers, total)
        return dict(zip((*counts, *times), total.tolist(), strict=True)) | {"seconds": seconds}

    def _update(self, record: int, round_: _Round) -> None:
        """Read, check, change and write a record, and add the bytes and times to those of the round."""
        store, directory, counts, times = round_.store, round_.directory, round_.counts, round_.times
        version = int(directory.version[record])
        data = memoryview(self._buffer)[: directory.size[record]]
        begin = time.perf_counter()
        store.read(int(directory.offset[record]), data)
        times["read_seconds"] += time.perf_counter() - begin

        values = decode_record(data, record, version)
        compressed = encode_record(record, version + 1, next_values(values, record, version + 1))
        offset = round_.changes.allocate_record(record, len(compressed))

        begin = time.perf_counter()
        store.write(offset, compressed)
        # The write time includes dropping pages, which waits until their data is on the disk.
        store.count_bytes(len(data) + len(compressed))
        times["write_seconds"] += time.perf_counter() - begin
        counts["requests"] += 1
        counts["read_bytes"] += len(data)
        counts["write_bytes"] += len(compressed)

    def _check(self, location: str) -> None:
        """Compare every record with its expected content; each rank checks a share."""
        store, directory = self._stores[location], self._directories[location]
        for record in range(self._comm.rank, self._job.records, self._comm.size):
            version = int(directory.version[record])
            data = memoryview(self._buffer)[: directory.size[record]]
            store.read(int(directory.offset[record]), data)
            if not np.array_equal(
                decode_record(data, record, version), expected_values(record, version, self._value_count)
            ):
                raise DamagedError(f"record {record} is not what its {version} updates make")
        self._comm.Barrier()


def _device_bytes_read() -> int:
    """Return the bytes that this process has read from devices; 0 if the kernel does not provide the number."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/io").read_text(encoding="ascii").splitlines():
            name, _, number = line.partition(":")
            if name == "read_bytes":
                return int(number)
    return 0


if __name__ == "__main__":
    run_job(ColumbusJob.load, _Columbus)
