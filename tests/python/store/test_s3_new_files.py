"""New files of one object in S3: puts, uploads in parts, conditions, failures and kills."""

import io
import random
import signal
import subprocess
import sys
import time
import urllib.parse

import h5py
import launching
import numpy as np
import pytest

import plait

SMALL = np.arange(30, dtype="i4").reshape(5, 6)
LARGE = np.random.default_rng(1).integers(0, 1 << 30, (1500, 1999), dtype="i8")  # 24 MB: three parts


def read_object(server, name):
    """Return the bytes of an object in the bucket `public`."""
    return server.send_unsigned("GET", "/public/" + urllib.parse.quote(name))


def list_uploads(server):
    """Return the unfinished uploads as JSON."""
    return server.send_unsigned("GET", "/-/uploads")


def write(url, array, **options):
    with plait.open(url, "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)


@pytest.mark.parametrize("array", [SMALL, LARGE, LARGE[:0]], ids=["small", "large", "empty"])
def test_npy_files_are_written(server, array):
    write("s3://public/a b.npy", array)
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(server, "a b.npy"))), array)
    np.testing.assert_array_equal(plait.open("s3://public/a b.npy").read(), array)
    assert list_uploads(server) == b"[]"


@pytest.mark.parametrize("name", ["f.h5::/g/x", "f.nc::x"])
@pytest.mark.parametrize("options", [{}, {"chunks": (100, 333)}, {"chunks": (100, 333), "codec": "zlib"}])
def test_hdf5_and_netcdf_files_are_written(server, name, options):
    write(f"s3://public/{name}", LARGE, **options)
    file, _, array = name.partition("::")
    with h5py.File(io.BytesIO(read_object(server, file))) as hdf5_file:
        np.testing.assert_array_equal(hdf5_file[array][:], LARGE)


def test_npz_and_raw_files_are_written(server):
    write("s3://public/f.npz::x", LARGE)
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(server, "f.npz")))["x"], LARGE)
    write("s3://public/f.bin", LARGE)
    assert read_object(server, "f.bin") == LARGE.tobytes()


def test_a_copy_is_written(server, tmp_path):
    write(str(tmp_path / "x.zarr"), LARGE, chunks=(200, 500))
    plait.copy(str(tmp_path / "x.zarr"), "s3://public/copy.h5::x")
    with h5py.File(io.BytesIO(read_object(server, "copy.h5"))) as hdf5_file:
        np.testing.assert_array_equal(hdf5_file["x"][:], LARGE)


@pytest.mark.parametrize("array", [SMALL, LARGE], ids=["small", "large"])
def test_objects_that_other_programs_change_meanwhile_are_not_replaced(server, array):
    name = f"s3://public/conditions-{array.size}.npy"
    first = plait.open(name, "w", shape=array.shape, dtype=array.dtype)
    first.write(array)
    write(name, array + 1)
    with pytest.raises(plait.Error, match="an object of that name has appeared since it was opened"):
        first.close()
    second = plait.open(name, "w", shape=array.shape, dtype=array.dtype)
    second.write(array)
    write(name, array + 2)
    with pytest.raises(plait.Error, match="another program has replaced or removed the object"):
        second.close()
    np.testing.assert_array_equal(plait.open(name).read(), array + 2)
    assert list_uploads(server) == b"[]"


def test_an_exception_discards_the_file(server):
    def fail():
        with plait.open("s3://public/never.npy", "w", shape=LARGE.shape, dtype="i8") as file:
            file.write(LARGE)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with pytest.raises(plait.Error, match="there is no such object"):
        plait.open("s3://public/never.npy")
    assert list_uploads(server) == b"[]"


@pytest.mark.parametrize("fault", ["slow_down", "fail", "reset", "lose_answers"])
def test_files_are_written_despite_faults(server, fault):
    server.set_faults(**{fault: 1})
    name = f"{fault}.npy"
    write(f"s3://public/{name}", LARGE)
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(server, name))), LARGE)


def test_an_error_after_the_status_200_is_retried(server):
    with plait.open("s3://public/late.npy", "w", shape=LARGE.shape, dtype="i8") as file:
        file.write(LARGE)
        server.set_faults(error_in_200=1)
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(server, "late.npy"))), LARGE)
    assert list_uploads(server) == b"[]"


def test_a_replaced_object_is_an_error_even_if_the_server_ignores_conditions(server):
    name = "s3://public/ignored.npy"
    write(name, LARGE)
    late = plait.open(name, "w", shape=LARGE.shape, dtype="i8")
    late.write(LARGE)
    write(name, LARGE + 1)
    server.set_faults(ignore_match=True)
    with pytest.raises(plait.Error, match="another program has replaced or removed the object"):
        late.close()
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(server, "ignored.npy"))), LARGE + 1)
    assert list_uploads(server) == b"[]"


def test_weak_etags_cannot_be_conditions(server):
    name = "s3://public/weak.npy"
    write(name, LARGE)
    server.set_faults(weak_etag=True)
    with pytest.raises(plait.Error, match="no identity that it compares"):
        write(name, LARGE + 1)
    assert list_uploads(server) == b"[]"
    write(f"{name}?conditions=off", LARGE + 2)
    np.testing.assert_array_equal(np.load(io.BytesIO(read_object(server, "weak.npy"))), LARGE + 2)


def test_a_missing_temporary_folder_is_an_error(server, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    with pytest.raises(plait.Error, match="none \\(TMPDIR\\)"):
        write("s3://public/folder.npy", SMALL)


WRITE_FILE = """
import sys, numpy as np, plait
file = plait.open(sys.argv[1], "w", shape=(3000000,), dtype="i8")
file.write(np.full(3000000, int(sys.argv[2])))
file.close()
"""

WRITE_ON_RANKS = """
import sys, numpy as np, plait
from mpi4py import MPI
comm = MPI.COMM_WORLD
rng = np.random.default_rng(1)
whole = rng.integers(0, 1 << 30, (1500, 1999), dtype="i8")
layout = plait.Layout(whole.shape, sys.argv[2], grid=(comm.size,))
options = {"chunks": (100, 333), "codec": "zlib"} if len(sys.argv) > 3 else {}
with plait.open(sys.argv[1], "w", comm=comm, shape=whole.shape, dtype="i8", **options) as file:
    file.write(np.ascontiguousarray(whole[np.ix_(*layout.indices(comm.rank))]), layout=layout)
"""


@launching.needs_mpi
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("layout", ["(block, *)", "(cyclic(7), *)"])
@pytest.mark.parametrize("name", ["f.npy", "f.h5::x", "z.h5::x"])
def test_several_ranks_write_a_file(server, ranks, layout, name):
    compress_option = ["compressed"] if name.startswith("z") else []
    job = launching.launch(ranks, sys.executable, "-c", WRITE_ON_RANKS, f"s3://public/{name}", layout, *compress_option)
    assert job.returncode == 0, job.stdout
    parts = [
        request for request in server.take_log() if request["method"] == "PUT" and "partNumber" in request["query"]
    ]
    assert compress_option or len({part["peer"] for part in parts}) >= min(ranks, 3)
    content = io.BytesIO(read_object(server, name.partition("::")[0]))
    if name == "f.npy":
        np.testing.assert_array_equal(np.load(content), LARGE)
    else:
        with h5py.File(content) as file:
            np.testing.assert_array_equal(file["x"][:], LARGE)
    assert list_uploads(server) == b"[]"


def test_one_of_sixteen_writers_succeeds(server):
    """Sixteen programs create one object at the same time."""
    # Each program reports that it has begun and that it is about to close the file, and then waits for a line.
    waiting = WRITE_FILE.replace("file.close()", "print(2, flush=True)\ninput()\nfile.close()")
    code = "print(1, flush=True)\n" + waiting
    url = "s3://public/race.npy"
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", code, url, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for number in range(16)
    ]
    for program in programs:
        assert program.stdout.readline() == "1\n"
        assert program.stdout.readline() == "2\n"
    for program in programs:
        program.stdin.write("\n")
        program.stdin.flush()
    winners = [number for number, program in enumerate(programs) if program.wait(120) == 0]
    for program in programs:
        program.stdin.close()
        program.stdout.close()
    assert len(winners) == 1
    array = np.load(io.BytesIO(read_object(server, "race.npy")))
    assert (array == winners[0]).all()


@pytest.mark.long
def test_a_kill_leaves_the_old_or_the_new_object(server):
    generator = random.Random(5)
    url = "s3://public/killed.npy"
    write(url, np.full(3000000, -1))
    before = -1
    outcomes = set()  # whether the new object is there
    for number in range(50):
        program = subprocess.Popen([sys.executable, "-c", WRITE_FILE, url, str(number)])
        time.sleep(generator.uniform(0.05, 1.2))
        program.send_signal(signal.SIGKILL)
        program.wait()
        array = np.load(io.BytesIO(read_object(server, "killed.npy")))
        assert array.shape == (3000000,)
        assert (array == array[0]).all()
        assert array[0] in (before, number)
        outcomes.add(array[0] == number)
        before = array[0]
    assert outcomes == {True, False}
