"""HDF5 files in object stores under MPI: one rank reads the description, and each chunk is fetched by one rank."""

import os

import numpy as np
import pytest
from mpi4py import MPI
from object_servers import use_keys
from shared_server import shared_server

import plait

h5py = pytest.importorskip("h5py")

COMM = MPI.COMM_WORLD
ARRAY = np.random.default_rng(1).random((600, 400))
TEXTS = np.array([f"text {i}" for i in range(3000)], dtype=object)
LAYOUTS = ["(block, *) onto ({n})", "(*, cyclic) onto ({n})", "(cyclic(3), *) onto ({n})", "(*, block) onto ({n})"]


@pytest.fixture
def server(monkeypatch, tmp_path):
    with shared_server(COMM) as server:
        use_keys(monkeypatch, server, tmp_path)
        COMM.Barrier()
        yield server
        COMM.Barrier()


def publish(server, path):
    """Make the file on rank 0, and return its URL and the offsets of its chunks."""
    chunks = {}
    if COMM.rank == 0:
        with h5py.File(path, "w") as file:
            file["contiguous"] = ARRAY
            file.create_dataset("plain", data=ARRAY, chunks=(50, 40))
            file.create_dataset("packed", data=ARRAY, chunks=(50, 40), compression="gzip", shuffle=True)
            file.create_dataset("scaled", data=np.arange(60_000).reshape(600, 100), chunks=(50, 40), scaleoffset=0)
            file.create_dataset("texts", data=TEXTS, dtype=h5py.string_dtype())
            for name in ("plain", "packed"):
                offsets = []
                file[name].id.chunk_iter(lambda chunk, offsets=offsets: offsets.append((chunk.byte_offset, chunk.size)))
                chunks[name] = offsets
            chunks["contiguous"] = [(file["contiguous"].id.get_offset(), ARRAY.nbytes)]
        server.publish("a.h5", path.read_bytes())
    return f"{server.endpoint}/public/a.h5", COMM.bcast(chunks)


def take_log(server):
    COMM.Barrier()
    requests = COMM.bcast(server.take_log() if COMM.rank == 0 else None)
    COMM.Barrier()
    return requests


def count_fetches(requests, size):
    """Return how many times each byte of the object was fetched."""
    count = np.zeros(size, dtype="i4")
    for request in requests:
        first, last = map(int, request["range"][6:].split("-"))
        count[first : last + 1] += 1
    return count


@pytest.mark.parametrize("dist", LAYOUTS)
@pytest.mark.parametrize("name", ["contiguous", "plain", "packed"])
def test_each_chunk_is_fetched_once(server, tmp_path, name, dist):
    url, chunks = publish(server, tmp_path / "a.h5")
    layout = plait.Layout.parse(f"600x400 {dist.format(n=COMM.size)}")
    with plait.open(f"{url}::{name}", comm=COMM) as file:
        opening = take_log(server)
        local = file.read(layout)
        reading = take_log(server)
    np.testing.assert_array_equal(local, ARRAY[np.ix_(*layout.indices(COMM.rank))])
    assert len({request["peer"] for request in opening}) == 1, "one rank reads the description"
    size = COMM.bcast(os.path.getsize(tmp_path / "a.h5") if COMM.rank == 0 else None)
    count = count_fetches(reading, size)
    fetched_at_open = 65536  # rank 0 has it from opening the object
    for offset, length in chunks[name]:
        fetched = count[offset : offset + length]
        assert fetched.max(initial=0) <= 1
        assert fetched[max(fetched_at_open - offset, 0) :].min(initial=1) == 1
    assert len(reading) <= 12 * COMM.size


@pytest.mark.parametrize("dist", LAYOUTS[:2])
def test_what_the_library_reads(server, tmp_path, dist):
    url, _ = publish(server, tmp_path / "a.h5")
    layout = plait.Layout.parse(f"600x100 {dist.format(n=COMM.size)}")
    expected = np.arange(60_000).reshape(600, 100)
    with plait.open(f"{url}::scaled", comm=COMM) as file:
        np.testing.assert_array_equal(file.read(layout), expected[np.ix_(*layout.indices(COMM.rank))])


def test_texts(server, tmp_path):
    url, _ = publish(server, tmp_path / "a.h5")
    layout = plait.Layout.parse(f"3000 (cyclic) onto ({COMM.size})")
    with plait.open(f"{url}::texts", comm=COMM) as file:
        take_log(server)
        np.testing.assert_array_equal(file.read(layout), TEXTS[layout.indices(COMM.rank)[0]])
    assert len(take_log(server)) <= 8 * COMM.size


def test_an_error_is_the_same_on_all_ranks(server, tmp_path):
    url, _ = publish(server, tmp_path / "a.h5")
    with plait.open(f"{url}::packed", comm=COMM) as file:
        publish(server, tmp_path / "a.h5")
        COMM.Barrier()
        with pytest.raises(plait.Error, match="another program has replaced") as error:
            file.read(plait.Layout.parse(f"600x400 (block, *) onto ({COMM.size})"))
    assert len(set(COMM.allgather(str(error.value)))) == 1
