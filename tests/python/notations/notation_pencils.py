"""A program for several processes: pencils of mpi4py-fft, compared with the layouts made from them.

Rank 0 prints the number of compared pencils; other ranks print nothing.  A difference ends the program.
"""

import numpy as np
from mpi4py import MPI
from mpi4py_fft.pencil import Pencil, Subcomm

from plait.notations import pencil

CASES = [
    ((9, 7), [0, 1], 1),
    ((9, 7), [1, 0], 0),
    ((8, 7, 6), [0, 0, 1], 2),
    ((8, 7, 6), [0, 1, 0], 1),
    ((8, 7, 6, 5), [0, 0, 1, 1], 3),
    ((8, 7, 6), [0, 0], 2),
]


def check(pencil_: Pencil, comm: MPI.Comm) -> None:
    """Compare the elements that this rank owns, and the pencil that is made from the layout."""
    layout = pencil.from_pencil(pencil_)
    indices = layout.indices(comm.rank)
    for part, start, count in zip(indices, pencil_.substart, pencil_.subshape, strict=True):
        assert part.tolist() == list(range(start, start + count)), f"{layout}, rank {comm.rank}"
    assert len(set(comm.allgather(str(layout)))) == 1
    converted = pencil.to_pencil(layout, pencil_.axis)
    assert pencil.from_pencil(*converted) == layout
    converted_object = pencil.to_pencil_object(layout, comm, pencil_.axis)
    assert (
        converted_object.shape,
        converted_object.axis,
        converted_object.subshape,
        converted_object.substart,
    ) == (
        pencil_.shape,
        pencil_.axis,
        pencil_.subshape,
        pencil_.substart,
    )
    assert pencil.from_pencil(converted_object, comm=comm) == layout


def main() -> None:
    """Check the first pencil of each case, and all that are made from it by aligning another axis, once or twice."""
    comm = MPI.COMM_WORLD
    count = 0
    for shape, dims, axis in CASES:
        subcomms = Subcomm(comm, list(dims))
        first = Pencil(subcomms, shape, axis)
        check(first, comm)
        for second_axis in range(len(shape)):
            second = first.pencil(second_axis)
            check(second, comm)
            for third_axis in range(len(shape)):
                check(second.pencil(third_axis), comm)
                count += 1
    total = comm.allreduce(np.int64(count))
    if comm.rank == 0:
        print(total // comm.size, "pencils")


if __name__ == "__main__":
    main()
