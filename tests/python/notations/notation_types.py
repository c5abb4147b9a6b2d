"""A program for one process: MPI's own datatypes, packed, compared with the layouts.

Prints the number of compared datatypes of each kind; a difference ends it with an error.  It is a separate process
because the process of the tests starts MPI jobs, which some launchers do not allow a process that uses MPI itself.
"""

import itertools
import math

import numpy as np
import pytest
from mpi4py import MPI

import plait
from plait.notations import mpi

CASES = [((12,), (4,)), ((11,), (3,)), ((6, 4), (2, 2)), ((7, 5), (3, 2)), ((5, 4, 3), (2, 1, 3))]


def pack_elements(datatype: MPI.Datatype, array: np.ndarray) -> list[int]:
    """Return the elements of an array that MPI packs, in its order."""
    datatype.Commit()
    out = bytearray(datatype.Pack_size(1, MPI.COMM_SELF))
    end = datatype.Pack(array, out, 0, MPI.COMM_SELF)
    return np.frombuffer(out[:end], array.dtype).tolist()


def owned_elements(layout: plait.Layout, rank: int, array: np.ndarray) -> list[int]:
    """Return the elements that a rank owns, in the order of its local array."""
    return array[np.ix_(*layout.indices(rank))].ravel(order=layout.order).tolist()


def list_distributions(size: int, extent: int) -> list[str]:
    """Return the distributions of a dimension that a darray can express."""
    min_block = -(-size // extent)
    return ["*"] if extent == 1 else ["block", f"block({min_block + 1})", "cyclic", "cyclic(2)", "cyclic(3)"]


def compare_darrays() -> int:
    """Compare darrays that Plait and MPI make: read them back, and compare the packed elements."""
    count = 0
    for shape, grid in CASES:
        for texts in itertools.product(*(list_distributions(n, p) for n, p in zip(shape, grid, strict=True))):
            extents = [p for p in grid if p > 1]
            for order in "CF":
                layout = plait.Layout(shape, texts, grid=extents, order=order)
                array = np.asarray(np.arange(math.prod(shape)).reshape(shape), order=layout.order)
                for rank in range(layout.size):
                    datatype = mpi.to_darray_type(layout, rank, MPI.INT64_T)
                    elements = pack_elements(datatype, array)
                    assert elements == owned_elements(layout, rank, array), f"{layout}, rank {rank}: {elements}"
                    wrapped = datatype.Dup().Create_resized(0, 8)
                    for equal_type in (datatype, wrapped):
                        assert mpi.from_darray(equal_type) == layout, f"{layout}, rank {rank}"
                    wrapped.Free()
                    datatype.Free()
                    count += 1
    return count


def compare_subarrays() -> int:
    """Compare subarrays: their packed elements, and the layout that is read back from those of all ranks."""
    count = 0
    for text in [
        "11 (gen_block(2, 5, 4)) onto (3)",
        "7x9 (gen_block(1, 6), balanced) onto (2, 4) ranks=F",
        "7x9 (gen_block(1, 6), balanced) onto (2, 4) order=F",
        "5x4x3 (block, *, balanced) onto (3, 2)",
    ]:
        layout = plait.Layout.parse(text)
        array = np.asarray(np.arange(layout.elements).reshape(layout.shape), order=layout.order)
        datatypes = [mpi.to_subarray_type(layout, rank, MPI.INT64_T) for rank in range(layout.size)]
        for rank, datatype in enumerate(datatypes):
            assert pack_elements(datatype, array) == owned_elements(layout, rank, array), f"{layout}, rank {rank}"
            count += 1
        assert mpi.from_subarrays(datatypes) == layout
    return count


def check_constants() -> None:
    """Test arguments with MPI's constants, and datatypes that do not describe a layout."""
    distribs = [MPI.DISTRIBUTE_CYCLIC, MPI.DISTRIBUTE_BLOCK]
    default = MPI.DISTRIBUTE_DFLT_DARG
    layout = mpi.from_darray(4, 1, [6, 4], distribs, [default, default], [2, 2], MPI.ORDER_FORTRAN)
    assert layout == plait.Layout.parse("6x4 (cyclic, block) onto (2, 2) order=F")
    for datatype in (MPI.DOUBLE.Create_vector(2, 1, 3), MPI.DOUBLE, MPI.INT.Create_subarray([4], [2], [0])):
        with pytest.raises(plait.ArgumentError, match="expected one made by DARRAY"):
            mpi.from_darray(datatype)


if __name__ == "__main__":
    check_constants()
    print(compare_darrays(), "darrays", compare_subarrays(), "subarrays")
