"""The number of requests, and of the bytes, that reading HDF5 files in object stores takes."""

import itertools
import os

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")


def count_fetched_bytes(requests):
    """Return the number of bytes of all ranges."""
    ranges = [request["range"][6:].split("-") for request in requests if request["range"]]
    return sum(1 + int(last) - int(first) for first, last in ranges)


def publish(server, path):
    return server.publish(path.name, path.read_bytes())


def test_many_descriptions_take_few_requests(server, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for number in range(400):
            file[f"group{number % 7}/x{number}"] = np.arange(number)
            file[f"group{number % 7}/x{number}"].attrs["unit"] = "m"
    url = publish(server, tmp_path / "a.h5")
    assert len(plait.arrays_in(url)) == 400
    requests = server.take_log()
    assert len(requests) <= 12
    assert count_fetched_bytes(requests) <= 2 * os.path.getsize(tmp_path / "a.h5")
    # The blocks stay in memory as long as the object has the same ETag.
    np.testing.assert_array_equal(plait.open(f"{url}::group1/x1").read(), [0])
    assert server.take_log()[0]["range"] == "bytes=0-65535"


def test_chunks_are_read_together(server, tmp_path):
    array = np.arange(400 * 300, dtype="f8").reshape(400, 300)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=array, chunks=(10, 10), compression="gzip")
        file.create_dataset("y", data=array, chunks=(10, 10))
    url = publish(server, tmp_path / "a.h5")
    for name in "xy":
        with plait.open(f"{url}::{name}") as file:
            server.take_log()
            np.testing.assert_array_equal(file.read(), array)
            assert len(server.take_log()) <= 4
            np.testing.assert_array_equal(file.read(region=np.s_[:, 100:110]), array[:, 100:110])
            assert len(server.take_log()) <= 40


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("maxima", [(None, None), (4000, 1280)], ids=["growing", "fixed"])
def test_each_node_of_an_index_is_read_once(server, tmp_path, libver, maxima):
    """The nodes of a tree are scattered between the chunks."""
    with h5py.File(tmp_path / "a.h5", "w", libver=libver) as file:
        dataset = file.create_dataset("x", (4000, 1280), "f8", chunks=(40, 64), maxshape=maxima)
        for row in range(0, 4000, 40):
            dataset[row : row + 40] = row
    url = publish(server, tmp_path / "a.h5")
    with plait.open(f"{url}::x") as file:
        opening = server.take_log()
        assert count_fetched_bytes(opening) <= 65536 + 600_000
        ranges = [request["range"] for request in opening]
        assert len(ranges) == len(set(ranges))
        np.testing.assert_array_equal(file[:, 3], np.repeat(np.arange(0, 4000, 40.0), 40))


def write_numbered_chunks(path, libver, maxima, rows):
    """Write rows * 100 chunks of 4 KiB, whose elements are their numbers."""
    with h5py.File(path, "w", libver=libver) as file:
        dataset = file.create_dataset("x", (rows * 4, 100 * 128), "f8", chunks=(4, 128), maxshape=maxima)
        for row, column in itertools.product(range(rows), range(100)):
            dataset.id.write_direct_chunk((row * 4, column * 128), np.full((4, 128), row * 100.0 + column).tobytes())


@pytest.mark.long
@pytest.mark.parametrize("kind", ["tree 1", "tree 2", "fixed array", "extensible array"])
def test_a_hundredth_of_an_array_takes_little_more_than_its_bytes(server, tmp_path, kind):
    rows = 300
    libver = "earliest" if kind == "tree 1" else "latest"
    maxima = {"tree 2": (None, None), "extensible array": (None, 12800)}.get(kind)
    write_numbered_chunks(tmp_path / "a.h5", libver, maxima, rows)
    url = publish(server, tmp_path / "a.h5")
    elements = rows * 4 * 12800
    with plait.open(f"{url}::x") as file:
        index_bytes = count_fetched_bytes(server.take_log())
        # Nodes of a tree have some 40 to 60 bytes a chunk, elements of arrays 8.
        assert index_bytes <= (60 if kind.startswith("tree") else 16) * rows * 100 + (1 << 19)
        for region in (np.s_[: rows * 4 // 10, 1280:2560], np.s_[:, 640:768], np.s_[40:52, :]):
            actual = file.read(region=region)
            fetched_bytes = count_fetched_bytes(server.take_log())
            assert elements / 150 <= actual.size <= elements / 90
            assert fetched_bytes <= 1.2 * actual.nbytes
            begins = [selection.start or 0 for selection in region]
            rows_read, columns_read = (np.arange(n) + begin for n, begin in zip(actual.shape, begins, strict=True))
            np.testing.assert_array_equal(actual, (rows_read // 4 * 100.0)[:, None] + columns_read // 128)
