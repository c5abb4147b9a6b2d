"""Records are stored compressed on the disks of all ranks, and each is updated by the next free rank.

This is how COLUMBUS, a program for multireference configuration interaction, stores data that does not fit into
memory: Nieplocha, Foster and Dachsel, "Distant I/O" (1998), section 5. A rank takes a task, reads the record that
belongs to it, decompresses, updates and compresses it, and writes it back; its size may change.

    mpiexec -n 4 python columbus.py [RECORDS [ITERATIONS [FILE]]]
"""

import sys
import time
import traceback
import zlib

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from plait import shared

COEFFICIENTS = 7000  # coefficients of a record; about 30 KB after compression
SPARE = 1.25  # the factor by which a record may grow before it has to move

# The columns of the directory, an array with one row per record, which each rank holds.
OFFSET, SIZE, CAPACITY, VERSION = range(4)

Values = npt.NDArray[np.float64]
Directory = npt.NDArray[np.int64]


class Counters:
    """Counters that any rank can increment at any time; no two ranks get the same value."""

    def __init__(self, count: int, comm: MPI.Intracomm) -> None:
        """Set all counters to zero, in the memory of rank 0."""
        self.window = MPI.Win.Allocate(8 * count if comm.rank == 0 else 0, 8, comm=comm)
        if comm.rank == 0:
            self.window.tomemory()[:] = bytes(8 * count)
        comm.Barrier()
        self.window.Lock_all()

    def fetch_and_add(self, counter: int, amount: int = 1) -> int:
        """Add to a counter, and return its previous value."""
        previous = np.empty(1, np.int64)
        self.window.Fetch_and_op(np.array([amount]), previous, 0, counter)
        self.window.Flush(0)
        return int(previous[0])

    def free(self) -> None:
        """Free the counters.  Collective."""
        self.window.Unlock_all()
        self.window.Free()


def update(values: Values, record: int, version: int) -> Values:
    """Return the next version of a record: some coefficients get contributions, the others are dropped as too small."""
    random = np.random.default_rng((record, version))
    nonzero = random.random(values.size) < random.uniform(0.3, 0.7)
    return np.where(nonzero, values + random.standard_normal(values.size), 0.0)


def compress_record(record: int, version: int, values: Values) -> bytes:
    """Return the compressed bytes of a record: its number, its version, a checksum and its coefficients."""
    header = np.array([record, version, zlib.crc32(values.tobytes())])
    return zlib.compress(header.tobytes() + values.tobytes(), 1)


def decompress_record(data: npt.NDArray[np.uint8], record: int, version: int) -> Values:
    """Return the coefficients of a record, after checking that it has the expected number and version."""
    raw = zlib.decompress(data.data)
    header, values = np.frombuffer(raw, np.int64, 3), np.frombuffer(raw, np.float64, offset=24)
    if header.tolist() != [record, version, zlib.crc32(values.tobytes())]:
        raise ValueError(f"version {version} of record {record} was to be read, but {header} was found")
    return values


def combine_changes(directory: Directory, old_directory: Directory, comm: MPI.Intracomm) -> None:
    """Combine the changes of all ranks by adding differences: no two ranks have changed the same record."""
    changes = directory - old_directory
    comm.Allreduce(MPI.IN_PLACE, changes)
    directory[:] = old_directory + changes


def create_records(file: shared.SharedFile, directory: Directory, counters: Counters, comm: MPI.Intracomm) -> None:
    """Write the first version of all records; each rank writes some of them."""
    old_directory = directory.copy()
    for record in range(comm.rank, len(directory), comm.size):
        data = compress_record(record, 0, update(np.zeros(COEFFICIENTS), record, 0))
        capacity = int(SPARE * len(data))
        directory[record] = counters.fetch_and_add(0, capacity), len(data), capacity, 0
        file.write(int(directory[record, OFFSET]), data)
    combine_changes(directory, old_directory, comm)


def update_records(
    iteration: int, file: shared.SharedFile, directory: Directory, counters: Counters, comm: MPI.Intracomm
) -> tuple[int, float]:
    """Update every record once; return the bytes that this rank has read, and the seconds of reading them."""
    order = np.random.default_rng(iteration).permutation(len(directory))
    old_directory = directory.copy()
    volume, seconds = 0, 0.0
    while (task := counters.fetch_and_add(1 + iteration)) < len(order):
        record = int(order[task])
        offset, size, capacity, version = directory[record].tolist()
        begin = time.perf_counter()
        data = file.read(offset, size)
        seconds += time.perf_counter() - begin
        volume += size

        data = compress_record(
            record, version + 1, update(decompress_record(data, record, version), record, version + 1)
        )
        if len(data) > capacity:
            # The record has outgrown its space and moves to the end of the file. Counter 0 is the offset of the end.
            capacity = int(SPARE * len(data))
            offset = counters.fetch_and_add(0, capacity)
        file.write(offset, data)
        directory[record] = offset, len(data), capacity, version + 1
    combine_changes(directory, old_directory, comm)
    return volume, seconds


def count_updates(file: shared.SharedFile, directory: Directory, comm: MPI.Intracomm) -> int:
    """Compare all records with the expected results of their updates; return the total number of updates."""
    updates = 0
    for record in range(comm.rank, len(directory), comm.size):
        offset, size, _, version = directory[record].tolist()
        expected = np.zeros(COEFFICIENTS)
        for number in range(version + 1):
            expected = update(expected, record, number)
        if not np.array_equal(decompress_record(file.read(offset, size), record, version), expected):
            raise ValueError(f"record {record} is not what its {version} updates make")
        updates += version
    return int(comm.allreduce(updates))


def main(records: int, iterations: int, path: str) -> None:
    """Make the records, update each of them in each iteration, and check that no update is missing."""
    comm = MPI.COMM_WORLD
    counters = Counters(1 + iterations, comm)
    directory = np.zeros((records, 4), np.int64)
    # The file is not persistent: its space on the disks is freed when the program ends.
    with shared.open(path, "w", comm=comm, request=30_000, striped=True) as file:
        try:
            create_records(file, directory, counters, comm)
            offsets = directory[:, OFFSET].copy()
            results = [update_records(iteration, file, directory, counters, comm) for iteration in range(iterations)]
            updates = count_updates(file, directory, comm)
        except Exception:  # the other ranks would wait forever
            traceback.print_exc()
            comm.Abort(1)
    counters.free()

    volume, seconds = comm.allreduce(np.sum(results, axis=0))
    if comm.rank == 0:
        moved = int((directory[:, OFFSET] != offsets).sum())
        size = directory[:, SIZE].mean() / 1e3
        print(f"{records} records of {size:.1f} KB; {updates} updates, {moved} records moved")
        print(f"read {volume / 1e6:.1f} MB in {seconds:.3f} s of all ranks: {volume / seconds / 1e6:.1f} MB/s per CPU")
        if updates != records * iterations:
            raise SystemExit(f"{records * iterations} tasks were drawn, but {updates} updates are in the records")


if __name__ == "__main__":
    arguments = sys.argv[1:4] + ["100", "3", "columbus.sf"][len(sys.argv) - 1 :]
    main(int(arguments[0]), int(arguments[1]), arguments[2])
