"""New files of one object that ranks on several hosts write together."""

import io
import json
import os
import resource
import urllib.parse
from pathlib import Path

import numpy as np
import pytest
from object_servers import use_keys
from same import catch_error, expect_same_error
from shared_server import shared_server

import plait

h5py = pytest.importorskip("h5py")

LAYOUTS = ["(block, *) onto ({n})", "(*, cyclic(7)) onto ({n})", "(cyclic(3), *) onto ({n})"]


@pytest.fixture
def server(node_comm, disk, monkeypatch, tmp_path):
    """Run a server on rank 0; the test fails if temporary files or uploads remain."""
    monkeypatch.setenv("TMPDIR", str(disk))
    with shared_server(node_comm) as server:
        use_keys(monkeypatch, server, tmp_path)
        node_comm.Barrier()
        yield server
        node_comm.Barrier()
        assert [path.name for path in disk.iterdir()] == []
        assert server.send_unsigned("GET", "/-/uploads") == b"[]"
        node_comm.Barrier()


def make_distinct_array(*shape):
    return np.random.default_rng(sum(shape)).integers(0, 1 << 40, shape, dtype="i8")


def local_part(layout, rank, global_array):
    return np.ascontiguousarray(global_array[np.ix_(*layout.indices(rank))])


def write_array(comm, name, global_array, dist, **options):
    layout = plait.Layout.parse(f"{'x'.join(map(str, global_array.shape))} {dist.format(n=comm.size)}")
    with plait.open(name, "w", shape=global_array.shape, dtype=global_array.dtype, comm=comm, **options) as file:
        file.write(local_part(layout, comm.rank, global_array), layout)


def read_object(comm, server, name):
    comm.Barrier()
    found = server.send_unsigned("GET", f"/public/{name}")
    comm.Barrier()
    return found


def take_sent_parts(comm, server):
    """Return the numbers of the parts that the ranks have sent since the last call."""
    comm.Barrier()
    log = comm.bcast(server.take_log() if comm.rank == 0 else None)
    queries = [urllib.parse.parse_qs(entry["query"]) for entry in log if entry["method"] == "PUT"]
    return sorted(int(query["partNumber"][0]) for query in queries if "partNumber" in query)


# Sizes that divide nothing: a put, a put of ranks without elements, two parts, and six parts.
@pytest.mark.parametrize("shape", [(17, 31), (1, 5), (1049, 1301), (3001, 1999)])
@pytest.mark.parametrize("dist", LAYOUTS)
def test_npy_and_raw(node_comm, server, shape, dist):
    global_array = make_distinct_array(*shape)
    take_sent_parts(node_comm, server)
    write_array(node_comm, "s3://public/a.npy", global_array, dist)
    expected = io.BytesIO()
    np.save(expected, global_array)
    assert read_object(node_comm, server, "a.npy") == expected.getvalue()
    count = -(-len(expected.getvalue()) // (8 << 20))
    assert take_sent_parts(node_comm, server) == (list(range(1, count + 1)) if count > 1 else [])
    write_array(node_comm, "s3://public/a.bin", global_array, dist)
    assert read_object(node_comm, server, "a.bin") == global_array.tobytes()


@pytest.mark.parametrize("name", ["f.h5::/g/x", "f.nc::x"])
@pytest.mark.parametrize("dist", LAYOUTS)
@pytest.mark.parametrize("options", [{}, {"chunks": (101, 333)}, {"chunks": (101, 333), "codec": "zlib"}])
def test_hdf5(node_comm, server, name, dist, options):
    global_array = make_distinct_array(1501, 1999)
    write_array(node_comm, f"s3://public/{name}", global_array, dist, **options)
    file, _, array = name.partition("::")
    with h5py.File(io.BytesIO(read_object(node_comm, server, file))) as found:
        np.testing.assert_array_equal(found[array][:], global_array)
        if "codec" in options:
            assert found[array].compression == "gzip"


@pytest.mark.parametrize("dist", LAYOUTS)
def test_npz(node_comm, server, dist):
    global_array = make_distinct_array(1501, 999)
    write_array(node_comm, "s3://public/f.npz::x", global_array, dist)
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(node_comm, server, "f.npz")))["x"], global_array)


def test_parts_of_one_chunk(node_comm, server):
    """Each chunk is written in three calls, whose parts begin on different hosts."""
    global_array = make_distinct_array(300, 200)
    name = "s3://public/rows.h5::x"
    options = {"chunks": (100, 200), "codec": "zlib", "comm": node_comm}
    with plait.open(name, "w", shape=global_array.shape, dtype="i8", **options) as file:
        for first in (50, 0, 200):
            rows = global_array[first : first + 100] if first != 0 else global_array[:50]
            layout = plait.Layout.parse(f"{len(rows)}x200 (cyclic, *) onto ({node_comm.size})")
            file.write(local_part(layout, node_comm.rank, rows), layout, region=np.s_[first : first + len(rows), :])
        layout = plait.Layout.parse(f"50x200 (cyclic, *) onto ({node_comm.size})")
        file.write(local_part(layout, node_comm.rank, global_array[150:200]), layout, region=np.s_[150:200, :])
        layout = plait.Layout.parse(f"300x200 (*, block) onto ({node_comm.size})")
        np.testing.assert_array_equal(file.read(layout), local_part(layout, node_comm.rank, global_array))
    with h5py.File(io.BytesIO(read_object(node_comm, server, "rows.h5"))) as found:
        np.testing.assert_array_equal(found["x"][:], global_array)


def test_several_arrays_and_texts(node_comm, server, shared):
    if node_comm.rank == 0:
        with h5py.File(shared / "a.h5", "w") as file:
            file["g/texts"] = np.array([f"text {i}" * (i % 7) for i in range(1003)], dtype=object)
            file.create_dataset("packed", data=make_distinct_array(501, 307), chunks=(50, 40), compression="gzip")
            file["plain"] = make_distinct_array(1201, 1009)
    node_comm.Barrier()
    for target in ("a.h5", "a.nc"):
        plait.copy(shared / "a.h5", f"s3://public/{target}", comm=node_comm)
        with (
            h5py.File(io.BytesIO(read_object(node_comm, server, target))) as found,
            h5py.File(shared / "a.h5") as source,
        ):
            for array in ("g/texts", "packed", "plain"):
                np.testing.assert_array_equal(found[array][:], source[array][:])


@pytest.mark.parametrize("fault", ["slow_down", "reset", "lose_answers"])
def test_lost_parts_are_sent_again(node_comm, server, fault):
    global_array = make_distinct_array(3001, 1999)
    layout = plait.Layout.parse(f"3001x1999 (block, *) onto ({node_comm.size})")
    with plait.open("s3://public/again.npy", "w", shape=global_array.shape, dtype="i8", comm=node_comm) as file:
        file.write(local_part(layout, node_comm.rank, global_array), layout)
        node_comm.Barrier()
        if node_comm.rank == 0:
            server.set_faults(**{fault: 2})
        node_comm.Barrier()
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(node_comm, server, "again.npy"))), global_array)


def test_a_server_that_fails(node_comm, server):
    """The error is the same on all ranks, and the upload is aborted."""
    global_array = make_distinct_array(3001, 1999)
    layout = plait.Layout.parse(f"3001x1999 (block, *) onto ({node_comm.size})")
    file = plait.open("s3://public/fails.npy", "w", shape=global_array.shape, dtype="i8", comm=node_comm)
    file.write(local_part(layout, node_comm.rank, global_array), layout)
    node_comm.Barrier()
    if node_comm.rank == 0:
        server.set_faults(fail=4)
    node_comm.Barrier()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_MAX_ATTEMPTS", "1")
        expect_same_error(node_comm, file.close, plait.StoreError)
    node_comm.Barrier()
    if node_comm.rank == 0:
        server.set_faults()
    node_comm.Barrier()
    expect_same_error(node_comm, lambda: plait.open("s3://public/fails.npy", comm=node_comm), plait.StoreError)


def test_a_rank_that_fails(node_comm, server):
    def write_and_fail():
        with plait.open("s3://public/never.npy", "w", shape=global_array.shape, dtype="i8", comm=node_comm) as file:
            file.write(local_part(layout, node_comm.rank, global_array), layout)
            if node_comm.rank == node_comm.size - 1:
                raise KeyError

    global_array = make_distinct_array(3001, 1999)
    layout = plait.Layout.parse(f"3001x1999 (block, *) onto ({node_comm.size})")
    if node_comm.rank == node_comm.size - 1:
        with pytest.raises(KeyError):
            write_and_fail()
    else:
        assert catch_error(write_and_fail) is not None
    node_comm.Barrier()
    expect_same_error(node_comm, lambda: plait.open("s3://public/never.npy", comm=node_comm), plait.StoreError)


def test_conditions(node_comm, server):
    """An object that appears while the ranks write remains."""
    global_array = make_distinct_array(3001, 1999)
    layout = plait.Layout.parse(f"3001x1999 (block, *) onto ({node_comm.size})")
    file = plait.open("s3://public/taken.npy", "w", shape=global_array.shape, dtype="i8", comm=node_comm)
    file.write(local_part(layout, node_comm.rank, global_array), layout)
    if node_comm.rank == 0:
        with plait.open("s3://public/taken.npy", "w", shape=(3,), dtype="i4") as other:
            other.write(np.arange(3, dtype="i4"))
    node_comm.Barrier()
    expect_same_error(
        node_comm, file.close, plait.StoreError, "an object of that name has appeared since it was opened"
    )
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(node_comm, server, "taken.npy"))), np.arange(3))


def test_a_missing_folder(node_comm, server, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/nowhere/tmp")
    options = {"shape": (5, 6), "dtype": "i8", "comm": node_comm}
    expect_same_error(
        node_comm, lambda: plait.open("s3://public/none.npy", "w", **options), plait.StoreError, "(TMPDIR"
    )


def test_a_name_that_takes_requests(node_comm, server, monkeypatch):
    """Whether `data` is a hierarchy takes requests; if they fail on one rank, all ranks report it."""
    options = {"shape": (6,), "dtype": "i8", "comm": node_comm}
    with plait.open("s3://public/data::x", "w", **options) as file:
        layout = plait.Layout.parse(f"6 (block) onto ({node_comm.size})")
        file.write(local_part(layout, node_comm.rank, np.arange(6)), layout)
    node_comm.Barrier()
    if node_comm.rank == 0:
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    expect_same_error(node_comm, lambda: plait.open("s3://public/data::x", "w", **options), plait.StoreError)


def test_parts_without_hashes(node_comm, server):
    """An upload that cannot be resumed, because the ETags of its parts are no MD5s, is aborted."""
    global_array = make_distinct_array(3001, 1999)
    layout = plait.Layout.parse(f"3001x1999 (block, *) onto ({node_comm.size})")
    options = {"shape": global_array.shape, "dtype": "i8", "comm": node_comm, "unfinished": "continue"}
    file = plait.open("s3://public/opaque.npy?conditions=off", "w", **options)
    file.write(local_part(layout, node_comm.rank, global_array), layout)
    node_comm.Barrier()
    if node_comm.rank == 0:
        server.set_faults(opaque_tags=True, error_in_200=3)
    node_comm.Barrier()
    expect_same_error(node_comm, file.close, plait.StoreError)


def open_files(folder):
    """Return the status of each open file of this process in a folder; the files have no names."""
    links = Path("/proc/self/fd").iterdir()
    return [link.stat() for link in links if os.path.lexists(link) and os.readlink(link).startswith(f"{folder}/")]


def test_space_is_reserved(node_comm, server, disk):
    global_array = make_distinct_array(3001, 1999)
    layout = plait.Layout.parse(f"3001x1999 (block, *) onto ({node_comm.size})")
    with plait.open("s3://public/reserved.npy", "w", shape=global_array.shape, dtype="i8", comm=node_comm) as file:
        files = {status.st_ino: status for status in open_files(disk)}.values()
        assert all(512 * status.st_blocks >= status.st_size for status in files)
        reserved_bytes = sum(status.st_size for status in files)
        assert sum(node_comm.allgather(reserved_bytes)) >= global_array.nbytes
        file.write(local_part(layout, node_comm.rank, global_array), layout)
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(node_comm, server, "reserved.npy"))), global_array)


def test_missing_space(node_comm, server):
    """The disk of one rank is too small; ranks on one host write into a file of rank 0."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if node_comm.rank == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    options = {"shape": (3001, 1999), "dtype": "i8", "comm": node_comm}
    try:
        expect_same_error(
            node_comm, lambda: plait.open("s3://public/huge.npy", "w", **options), plait.StoreError, "TMPDIR"
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_requests_that_fail_on_one_rank_at_the_end(node_comm, server, monkeypatch):
    """Whether `ends` is a hierarchy takes requests; close() does not send them again."""
    global_array = np.arange(6)
    layout = plait.Layout.parse(f"6 (block) onto ({node_comm.size})")
    with plait.open("s3://public/ends::x", "w", shape=(6,), dtype="i8", comm=node_comm) as file:
        file.write(local_part(layout, node_comm.rank, global_array), layout)
        node_comm.Barrier()
        if node_comm.rank == node_comm.size - 1 > 0:
            monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
            monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    assert read_object(node_comm, server, "ends::x") == global_array.tobytes()


def test_unfinished_uploads(node_comm, server):
    """Ranks that write the same bytes again resume an upload, and send only the parts that the server lacks."""

    def write_again():
        options = {"shape": global_array.shape, "dtype": "i8", "comm": node_comm, "unfinished": "continue"}
        file = plait.open("s3://public/resumed.npy?conditions=off", "w", **options)
        file.write(local_part(layout, node_comm.rank, global_array), layout)
        return file

    def set_faults_on_rank_0(**set_faults_on_rank_0):
        node_comm.Barrier()
        if node_comm.rank == 0:
            server.set_faults(**set_faults_on_rank_0)
        node_comm.Barrier()

    global_array = make_distinct_array(3001, 1999)
    layout = plait.Layout.parse(f"3001x1999 (block, *) onto ({node_comm.size})")
    file = write_again()
    set_faults_on_rank_0(error_in_200=3)  # all parts are sent, but the upload is not completed
    expect_same_error(node_comm, file.close, plait.StoreError)
    set_faults_on_rank_0()
    assert len(json.loads(server.send_unsigned("GET", "/-/uploads"))) == 1
    take_sent_parts(node_comm, server)
    write_again().close()
    assert take_sent_parts(node_comm, server) == []
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(node_comm, server, "resumed.npy"))), global_array)
