"""Object stores under MPI: every byte is fetched by one rank."""

import contextlib
import io
import socket

import numpy as np
import pytest
from mpi4py import MPI
from nodes import SEVERAL_HOSTS
from object_servers import LOCAL, ObjectServer, object_server, use_keys

import plait

COMM = MPI.COMM_WORLD
WHOLE = np.arange(400_000, dtype="f8").reshape(1000, 400)
LAYOUTS = [
    "(block, *) onto ({n})",
    "(cyclic, *) onto ({n})",
    "(*, block) onto ({n})",
    "(*, cyclic) onto ({n})",
    "(cyclic(3), *) onto ({n})",
    "(*, cyclic(7)) onto ({n})",
]


@pytest.fixture
def server(monkeypatch, tmp_path):
    with contextlib.ExitStack() as stack:
        # Ranks on other hosts do not reach a server on the loopback device.
        host = socket.gethostbyname(socket.gethostname()) if SEVERAL_HOSTS else LOCAL
        started = stack.enter_context(object_server(host=host)) if COMM.rank == 0 else None
        server = ObjectServer(*COMM.bcast((started.port, started.host) if started else None))
        use_keys(monkeypatch, server, tmp_path)
        COMM.Barrier()
        yield server
        COMM.Barrier()


def log(server):
    COMM.Barrier()
    found = COMM.bcast(server.log() if COMM.rank == 0 else None)
    COMM.Barrier()
    return found


def fetched(requests):
    """Return the number of bytes of all ranges."""
    ranges = [one["range"][6:].split("-") for one in requests if one["range"]]
    return sum(1 + int(last) - int(first) for first, last in ranges)


@pytest.mark.parametrize("dist", LAYOUTS)
def test_bytes_of_one_object_are_fetched_once(server, dist):
    if COMM.rank == 0:
        content = io.BytesIO()
        np.save(content, WHOLE)
        server.publish("a.npy", content.getvalue())
    COMM.Barrier()
    layout = plait.Layout.parse(f"1000x400 {dist.format(n=COMM.size)}")
    with plait.open(f"{server.endpoint}/public/a.npy", comm=COMM) as file:
        opening = log(server)
        part = file.read(layout)
    reading = log(server)
    np.testing.assert_array_equal(part, WHOLE[np.ix_(*layout.indices(COMM.rank))])
    assert len(opening) == 1, "one rank reads the header"
    assert fetched(reading) <= WHOLE.nbytes + 2 * 65536 * len(reading)
    assert len(reading) <= 4 * COMM.size


@pytest.mark.parametrize("dist", LAYOUTS)
@pytest.mark.parametrize("codec", [None, "zstd"])
def test_chunks_are_fetched_once(server, dist, codec):
    layout = plait.Layout.parse(f"1000x400 {dist.format(n=COMM.size)}")
    options = {"codec": codec} if codec else {}
    with plait.open(
        "s3://b/a.zarr", "w", shape=WHOLE.shape, dtype="f8", chunks=(125, 100), comm=COMM, **options
    ) as file:
        file.write(np.ascontiguousarray(WHOLE[np.ix_(*layout.indices(COMM.rank))]), layout)
    written = [one["path"] for one in log(server) if one["method"] == "PUT" and "/c/" in one["path"]]
    assert len(written) == len(set(written)) == 32
    with plait.open("s3://b/a.zarr", comm=COMM) as file:
        log(server)
        part = file.read(layout)
    chunks = [one["path"] for one in log(server) if "/c/" in one["path"]]
    np.testing.assert_array_equal(part, WHOLE[np.ix_(*layout.indices(COMM.rank))])
    assert len(set(chunks)) == 32
    assert len(chunks) == 32


def test_an_error_is_the_same_on_all_ranks(server):
    with pytest.raises(FileNotFoundError) as error:
        plait.open("s3://b/none.zarr", comm=COMM)
    assert len(set(COMM.allgather(str(error.value)))) == 1
