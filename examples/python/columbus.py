"""Records that are kept compressed on the disks of all ranks, and updated by whichever rank is free.

The way in which COLUMBUS, a program for multireference configuration interaction, keeps what does not fit into
memory: Nieplocha, Foster and Dachsel, "Distant I/O" (1998), section 5. A rank draws a task, reads the record that
belongs to it, uncompresses, updates and compresses it, and writes it back; it may need more bytes then, or fewer.

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

COEFFICIENTS = 7000  # of a record; about 30 KB when they are compressed
SPARE = 1.25  # of a record's size at first: how much it may grow until it has to move

# The columns of the directory.
OFFSET, SIZE, ROOM, VERSION = range(4)

Values = npt.NDArray[np.float64]
Directory = npt.NDArray[np.int64]


class Counters:
    """Numbers that any rank takes from at any time; none is given twice."""

    def __init__(self, count: int, comm: MPI.Intracomm) -> None:
        """Begin all of them at zero, in the memory of rank 0."""
        self.window = MPI.Win.Allocate(8 * count if comm.rank == 0 else 0, 8, comm=comm)
        if comm.rank == 0:
            self.window.tomemory()[:] = bytes(8 * count)
        comm.Barrier()
        self.window.Lock_all()

    def take(self, which: int, amount: int = 1) -> int:
        """Add to a counter, and return what it was before."""
        before = np.empty(1, np.int64)
        self.window.Fetch_and_op(np.array([amount]), before, 0, which)
        self.window.Flush(0)
        return int(before[0])

    def free(self) -> None:
        """End them, on all ranks together."""
        self.window.Unlock_all()
        self.window.Free()


def update(values: Values, record: int, version: int) -> Values:
    """The next version of a record: contributions are added, and other coefficients are dropped as too small."""
    random = np.random.default_rng((record, version))
    kept = random.random(values.size) < random.uniform(0.3, 0.7)
    return np.where(kept, values + random.standard_normal(values.size), 0.0)


def pack(record: int, version: int, values: Values) -> bytes:
    """The bytes of a record: compressed; in front its number, its version and a checksum."""
    head = np.array([record, version, zlib.crc32(values.tobytes())])
    return zlib.compress(head.tobytes() + values.tobytes(), 1)


def unpack(data: npt.NDArray[np.uint8], record: int, version: int) -> Values:
    """The coefficients of a record, which must be the one and the version that the directory tells."""
    raw = zlib.decompress(data.data)
    head, values = np.frombuffer(raw, np.int64, 3), np.frombuffer(raw, np.float64, offset=24)
    if head.tolist() != [record, version, zlib.crc32(values.tobytes())]:
        raise ValueError(f"version {version} of record {record} was to be read, but {head} was found")
    return values


def share(directory: Directory, before: Directory, comm: MPI.Intracomm) -> None:
    """Tell all ranks what each of them has changed.  No two have changed the same record."""
    changes = directory - before
    comm.Allreduce(MPI.IN_PLACE, changes)
    directory[:] = before + changes


def create(file: shared.SharedFile, directory: Directory, counters: Counters, comm: MPI.Intracomm) -> None:
    """Write all records for the first time, each rank some of them."""
    before = directory.copy()
    for record in range(comm.rank, len(directory), comm.size):
        data = pack(record, 0, update(np.zeros(COEFFICIENTS), record, 0))
        capacity = int(SPARE * len(data))
        directory[record] = counters.take(0, capacity), len(data), capacity, 0
        file.write(int(directory[record, OFFSET]), data)
    share(directory, before, comm)


def iterate(
    iteration: int, file: shared.SharedFile, directory: Directory, counters: Counters, comm: MPI.Intracomm
) -> tuple[int, float]:
    """Update every record once; return how many bytes this rank read, and the seconds that it spent reading."""
    order = np.random.default_rng(iteration).permutation(len(directory))
    before = directory.copy()
    volume, seconds = 0, 0.0
    while (task := counters.take(1 + iteration)) < len(order):
        record = int(order[task])
        offset, size, capacity, version = directory[record].tolist()
        begin = time.perf_counter()
        data = file.read(offset, size)
        seconds += time.perf_counter() - begin
        volume += size

        data = pack(record, version + 1, update(unpack(data, record, version), record, version + 1))
        if len(data) > capacity:
            # It has outgrown its slot and moves to the end, which the first counter tells.
            capacity = int(SPARE * len(data))
            offset = counters.take(0, capacity)
        file.write(offset, data)
        directory[record] = offset, len(data), capacity, version + 1
    share(directory, before, comm)
    return volume, seconds


def updates_in(file: shared.SharedFile, directory: Directory, comm: MPI.Intracomm) -> int:
    """How often the records say that they were updated; each one is compared with what these updates must make."""
    updates = 0
    for record in range(comm.rank, len(directory), comm.size):
        offset, size, _, version = directory[record].tolist()
        expected = np.zeros(COEFFICIENTS)
        for number in range(version + 1):
            expected = update(expected, record, number)
        if not np.array_equal(unpack(file.read(offset, size), record, version), expected):
            raise ValueError(f"record {record} is not what its {version} updates make")
        updates += version
    return int(comm.allreduce(updates))


def main(records: int, iterations: int, path: str) -> None:
    """Make the records, update each of them in each iteration, and see whether all updates are there."""
    comm = MPI.COMM_WORLD
    counters = Counters(1 + iterations, comm)
    directory = np.zeros((records, 4), np.int64)
    # Not persistent: the disks are free again when the program ends.
    with shared.open(path, "w", comm=comm, request=30_000, place="striped") as file:
        try:
            create(file, directory, counters, comm)
            offsets = directory[:, OFFSET].copy()
            spent = [iterate(iteration, file, directory, counters, comm) for iteration in range(iterations)]
            updates = updates_in(file, directory, comm)
        except Exception:  # the other ranks wait elsewhere, and would not hear of it
            traceback.print_exc()
            comm.Abort(1)
    counters.free()

    volume, seconds = comm.allreduce(np.sum(spent, axis=0))
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
