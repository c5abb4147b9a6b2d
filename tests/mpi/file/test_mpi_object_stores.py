"""Object stores under MPI: every byte is fetched by one rank."""

import io
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI
from nodes import SEVERAL_HOSTS
from object_servers import use_keys
from s3_server import ACCESS, SECRET
from shared_server import shared_server

import plait

COMM = MPI.COMM_WORLD
ARRAY = np.arange(400_000, dtype="f8").reshape(1000, 400)
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
    with shared_server(COMM, "s3_server.py") as server:
        use_keys(monkeypatch, server, tmp_path)
        COMM.Barrier()
        yield server
        COMM.Barrier()


def take_log(server):
    COMM.Barrier()
    requests = COMM.bcast(server.take_log() if COMM.rank == 0 else None)
    COMM.Barrier()
    return requests


def count_fetched_bytes(requests):
    """Return the number of bytes of all ranges."""
    ranges = [request["range"][6:].split("-") for request in requests if request["range"]]
    return sum(1 + int(last) - int(first) for first, last in ranges)


@pytest.mark.parametrize("dist", LAYOUTS)
def test_bytes_of_one_object_are_fetched_once(server, dist):
    if COMM.rank == 0:
        content = io.BytesIO()
        np.save(content, ARRAY)
        server.publish("a.npy", content.getvalue())
    COMM.Barrier()
    layout = plait.Layout.parse(f"1000x400 {dist.format(n=COMM.size)}")
    with plait.open(f"{server.endpoint}/public/a.npy", comm=COMM) as file:
        opening = take_log(server)
        local = file.read(layout)
    reading = take_log(server)
    np.testing.assert_array_equal(local, ARRAY[np.ix_(*layout.indices(COMM.rank))])
    assert len(opening) == 1, "one rank reads the header"
    assert count_fetched_bytes(reading) <= ARRAY.nbytes + 2 * 65536 * len(reading)
    assert len(reading) <= 4 * COMM.size


@pytest.mark.parametrize("dist", LAYOUTS)
@pytest.mark.parametrize("codec", [None, "zstd"])
def test_chunks_are_fetched_once(server, dist, codec):
    layout = plait.Layout.parse(f"1000x400 {dist.format(n=COMM.size)}")
    options = {"codec": codec} if codec else {}
    with plait.open(
        "s3://b/a.zarr", "w", shape=ARRAY.shape, dtype="f8", chunks=(125, 100), comm=COMM, **options
    ) as file:
        file.write(np.ascontiguousarray(ARRAY[np.ix_(*layout.indices(COMM.rank))]), layout)
    written = [
        request["path"] for request in take_log(server) if request["method"] == "PUT" and "/c/" in request["path"]
    ]
    assert len(written) == len(set(written)) == 32
    with plait.open("s3://b/a.zarr", comm=COMM) as file:
        take_log(server)
        local = file.read(layout)
    chunks = [request["path"] for request in take_log(server) if "/c/" in request["path"]]
    np.testing.assert_array_equal(local, ARRAY[np.ix_(*layout.indices(COMM.rank))])
    assert len(set(chunks)) == 32
    assert len(chunks) == 32


def test_an_error_is_the_same_on_all_ranks(server):
    with pytest.raises(FileNotFoundError) as error:
        plait.open("s3://b/none.zarr", comm=COMM)
    assert len(set(COMM.allgather(str(error.value)))) == 1


def make_zip(array, chunks):
    """Return the bytes of a zip file with a Zarr array."""
    file = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(file, "w") as archive:
        with plait.open(f"{folder}/a.zarr", "w", shape=array.shape, dtype=array.dtype, chunks=chunks) as new:
            new.write(array)
        zarr_folder = Path(folder, "a.zarr")
        archive.write(zarr_folder / "zarr.json", "zarr.json")
        for i, j in np.ndindex(array.shape[0] // chunks[0], array.shape[1] // chunks[1]):
            archive.write(zarr_folder / "c" / str(i) / str(j), f"c/{i}/{j}")
    return file.getvalue()


@pytest.mark.parametrize("dist", LAYOUTS)
def test_one_rank_reads_the_directory_of_a_zip_file(server, dist):
    content = COMM.bcast(make_zip(ARRAY, (10, 100)) if COMM.rank == 0 else None)
    if COMM.rank == 0:
        server.publish("a.zarr.zip", content)
    COMM.Barrier()
    layout = plait.Layout.parse(f"1000x400 {dist.format(n=COMM.size)}")
    with plait.open(f"{server.endpoint}/public/a.zarr.zip", comm=COMM) as file:
        opening = take_log(server)
        local = file.read(layout)
    reading = take_log(server)
    np.testing.assert_array_equal(local, ARRAY[np.ix_(*layout.indices(COMM.rank))])
    assert len({request["peer"] for request in opening}) == 1
    assert len(opening) <= 3, "one rank reads the directory"
    # One rank has the last 128 KiB from the request for the directory.
    assert ARRAY.nbytes - (128 << 10) <= count_fetched_bytes(reading) <= len(content) + 65536 * len(reading)
    if COMM.rank == 0:
        server.publish("a.zarr.zip", make_zip(-ARRAY, (20, 50)))
    COMM.Barrier()
    with plait.open(f"{server.endpoint}/public/a.zarr.zip", comm=COMM) as file:
        np.testing.assert_array_equal(file.read(layout), -ARRAY[np.ix_(*layout.indices(COMM.rank))])


@pytest.mark.parametrize("dist", LAYOUTS)
def test_ranks_share_a_cache(server, dist, monkeypatch, tmp_path):
    """What one rank has fetched, another one finds, in any layout; only ETags are compared."""
    folder = COMM.bcast(str(tmp_path / "cache"))
    monkeypatch.setenv("PLAIT_CACHE", folder)
    if COMM.rank == 0:
        content = io.BytesIO()
        np.save(content, ARRAY)
        server.publish("cached.npy", content.getvalue())
        with plait.open("s3://b/cached.zarr", "w", shape=ARRAY.shape, dtype="f8", chunks=(125, 100)) as file:
            file.write(ARRAY)
    COMM.Barrier()
    layout = plait.Layout.parse(f"1000x400 {dist.format(n=COMM.size)}")
    other = plait.Layout.parse(f"1000x400 (block, *) onto ({COMM.size})")
    for name in (f"{server.endpoint}/public/cached.npy", "s3://b/cached.zarr"):
        with plait.open(name, comm=COMM) as file:
            np.testing.assert_array_equal(file.read(layout), ARRAY[np.ix_(*layout.indices(COMM.rank))])
        take_log(server)
        with plait.open(name, comm=COMM) as file:
            np.testing.assert_array_equal(file.read(other), ARRAY[np.ix_(*other.indices(COMM.rank))])
        requests = take_log(server)
        gets = [request for request in requests if request["method"] == "GET" and "list-type" not in request["query"]]
        if not SEVERAL_HOSTS:
            assert all("if-none-match" in request["headers"] for request in gets)
        if name.endswith(".npy") and not SEVERAL_HOSTS:
            assert len(gets) == 1, "one rank compares the ETag"


def test_errors_of_zip_files_are_the_same_on_all_ranks(server):
    if COMM.rank == 0:
        server.publish("cut.zarr.zip", make_zip(ARRAY, (100, 100))[:-30])
        server.publish("whole.zarr.zip", make_zip(ARRAY, (100, 100)))
    COMM.Barrier()
    for name, mode in (("cut.zarr.zip", "r"), ("whole.zarr.zip", "r+"), ("whole.zarr.zip::/none", "r")):
        with pytest.raises(plait.Error) as error:
            plait.open(f"s3://public/{name}", mode, comm=COMM)
        assert len(set(COMM.allgather(str(error.value)))) == 1


def write_keys(path, lifetime, session):
    """Write a program that prints keys."""
    path.write_text(
        "import datetime, json\n"
        f"end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds={lifetime})\n"
        f"keys = {{'AccessKeyId': {ACCESS!r}, 'SecretAccessKey': {SECRET!r}, 'SessionToken': {session!r}}}\n"
        "print(json.dumps({'Version': 1, **keys, 'Expiration': end.isoformat()}))\n"
    )


def test_keys_are_renewed_on_all_ranks(server, monkeypatch, tmp_path):
    """If one rank gets no new keys, all ranks have the error."""
    layout = plait.Layout.parse(f"1000x400 (block, *) onto ({COMM.size})")
    if COMM.rank == 0:
        with plait.open("s3://renewed/a.zarr", "w", shape=ARRAY.shape, dtype="f8", chunks=(10, 400)) as file:
            file.write(ARRAY)
    COMM.Barrier()
    take_log(server)
    program = tmp_path / f"keys-{COMM.rank}.py"
    write_keys(program, 4, "first")
    (tmp_path / f"config-{COMM.rank}").write_text(f"[default]\ncredential_process = '{sys.executable}' '{program}'\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / f"config-{COMM.rank}"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    COMM.Barrier()
    with plait.open("s3://renewed/a.zarr", comm=COMM) as file:
        np.testing.assert_array_equal(file.read(layout), ARRAY[np.ix_(*layout.indices(COMM.rank))])
        assert {request["headers"]["x-amz-security-token"] for request in take_log(server)} == {"first"}
        write_keys(program, 4, "second")
        time.sleep(4.1)
        COMM.Barrier()
        np.testing.assert_array_equal(file.read(layout), ARRAY[np.ix_(*layout.indices(COMM.rank))])
        assert {request["headers"]["x-amz-security-token"] for request in take_log(server)} == {"second"}
        if COMM.rank == COMM.size - 1:
            program.write_text("import sys\nsys.exit(5)\n")
        time.sleep(4.1)
        COMM.Barrier()
        with pytest.raises(plait.Error, match=r"credential_process of the profile default: .* status 5"):
            file.read(layout)


def test_one_object_in_google_cloud_storage(monkeypatch):
    with shared_server(COMM, "gs_server.py") as server:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"{server.host}:{server.port}")
        monkeypatch.setenv("NO_PROXY", server.host)
        monkeypatch.setenv("GS_ACCESS_KEY_ID", ACCESS)
        monkeypatch.setenv("GS_SECRET_ACCESS_KEY", SECRET)
        if COMM.rank == 0:
            server.set_faults(region="auto")
        COMM.Barrier()
        layout = plait.Layout(ARRAY.shape, "(cyclic(3), *)", grid=(COMM.size,))
        local = ARRAY[layout.indices(COMM.rank)[0]]
        for name in ("gs://arrays/a.npy", "gs://arrays/a.zarr"):
            with plait.open(name, "w", comm=COMM, shape=ARRAY.shape, dtype="f8") as file:
                file.write(local, layout)
        for name in ("gs://arrays/a.npy", "gs://arrays/a.zarr"):
            with plait.open(name, comm=COMM) as file:
                np.testing.assert_array_equal(file.read(layout), local)
        COMM.Barrier()
