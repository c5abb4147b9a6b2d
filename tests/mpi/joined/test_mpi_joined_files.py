"""Files with several arrays, joined by open_many() on several ranks."""

import numpy as np
import pytest
from same import expect_same_error

import plait


def write_parts(comm, shared, last=3.0, begin=5):
    """Writes HDF5 files with a coordinate, an array along it, and an array without it; returns the file pattern."""
    if comm.rank == 0:
        for number in range(3):
            size = number + 1
            types = {
                "time": {"shape": (size,), "dtype": "f8", "dimension_names": ["time"]},
                "a": {"shape": (size, 4), "dtype": "i4", "dimension_names": ["time", "x"], "chunks": (1, 2)},
                "x": {"shape": (4,), "dtype": "f4", "dimension_names": ["x"]},
            }
            with plait.open(shared / f"part-{number}.h5", "w", arrays=types) as file:
                file.write(np.arange(size, dtype="f8") + begin * number, variable="time")
                file.write(np.arange(size * 4, dtype="i4").reshape(size, 4) + 100 * number, variable="a")
                file.write(np.asarray([0, 1, 2, last if number == 1 else 3.0], "f4"), variable="x")
    comm.barrier()
    return str(shared / "part-*.h5")


ARRAY = np.concatenate([np.arange(size * 4).reshape(size, 4) + 100 * (size - 1) for size in (1, 2, 3)])


@pytest.mark.filterwarnings("ignore:the coordinate")
def test_each_rank_reads_its_part(comm, shared):
    with plait.open_many(write_parts(comm, shared), "time", comm=comm) as files:
        layout = plait.Layout((6, 4), "(cyclic, *)", grid=(comm.size,))
        np.testing.assert_array_equal(files["a"].read(layout), ARRAY[layout.indices(comm.rank)[0]])
        flat = plait.Layout((4,), "(*)", grid=())
        local = files["x"].read(flat)
        assert (local is None) == (comm.rank > 0)


@pytest.mark.filterwarnings("ignore:the coordinate")
def test_copies(comm, shared):
    pattern = write_parts(comm, shared)
    plait.copy(pattern, shared / "all.zarr", concat="time", comm=comm, memory="1M", verify=True)
    with plait.open(shared / "all.zarr::/a") as file:
        np.testing.assert_array_equal(file.read(), ARRAY)


@pytest.mark.filterwarnings("ignore:the coordinate")
@pytest.mark.parametrize(
    ("options", "message"), [({"last": 9.0}, "has 9.0 at index"), ({"begin": 0}, "has time from 0.0 to 1.0")]
)
def test_errors_are_the_same_on_all_ranks(comm, shared, options, message):
    pattern = write_parts(comm, shared, **options)
    expect_same_error(comm, lambda: plait.open_many(pattern, "time", comm=comm), plait.ArgumentError, message)
