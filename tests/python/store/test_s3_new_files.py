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


def content(server, name):
    """Return the bytes of an object in the bucket `public`."""
    return server.send_unsigned("GET", "/public/" + urllib.parse.quote(name))


def uploads(server):
    return server.send_unsigned("GET", "/-/uploads")


def write(url, array, **options):
    with plait.open(url, "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)


@pytest.mark.parametrize("array", [SMALL, LARGE, LARGE[:0]], ids=["small", "large", "empty"])
def test_npy(server, array):
    write("s3://public/a b.npy", array)
    np.testing.assert_array_equal(np.load(io.BytesIO(content(server, "a b.npy"))), array)
    np.testing.assert_array_equal(plait.open("s3://public/a b.npy").read(), array)
    assert uploads(server) == b"[]"


@pytest.mark.parametrize("name", ["f.h5::/g/x", "f.nc::x"])
@pytest.mark.parametrize("options", [{}, {"chunks": (100, 333)}, {"chunks": (100, 333), "codec": "zlib"}])
def test_hdf5(server, name, options):
    write(f"s3://public/{name}", LARGE, **options)
    file, _, array = name.partition("::")
    with h5py.File(io.BytesIO(content(server, file))) as found:
        np.testing.assert_array_equal(found[array][:], LARGE)


def test_npz_and_raw(server):
    write("s3://public/f.npz::x", LARGE)
    np.testing.assert_array_equal(np.load(io.BytesIO(content(server, "f.npz")))["x"], LARGE)
    write("s3://public/f.bin", LARGE)
    assert content(server, "f.bin") == LARGE.tobytes()


def test_a_copy(server, tmp_path):
    write(str(tmp_path / "x.zarr"), LARGE, chunks=(200, 500))
    plait.copy(str(tmp_path / "x.zarr"), "s3://public/copy.h5::x")
    with h5py.File(io.BytesIO(content(server, "copy.h5"))) as found:
        np.testing.assert_array_equal(found["x"][:], LARGE)


@pytest.mark.parametrize("array", [SMALL, LARGE], ids=["small", "large"])
def test_conditions(server, array):
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
    assert uploads(server) == b"[]"


def test_an_exception_discards(server):
    def fail():
        with plait.open("s3://public/never.npy", "w", shape=LARGE.shape, dtype="i8") as file:
            file.write(LARGE)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with pytest.raises(plait.Error, match="there is no such object"):
        plait.open("s3://public/never.npy")
    assert uploads(server) == b"[]"


@pytest.mark.parametrize("fault", ["slow_down", "fail", "reset", "lose_answers"])
def test_faults(server, fault):
    server.set_faults(**{fault: 1})
    name = f"{fault}.npy"
    write(f"s3://public/{name}", LARGE)
    np.testing.assert_array_equal(np.load(io.BytesIO(content(server, name))), LARGE)


def test_an_error_after_the_status(server):
    with plait.open("s3://public/late.npy", "w", shape=LARGE.shape, dtype="i8") as file:
        file.write(LARGE)
        server.set_faults(error_in_200=1)
    np.testing.assert_array_equal(np.load(io.BytesIO(content(server, "late.npy"))), LARGE)
    assert uploads(server) == b"[]"


def test_a_server_that_ignores_conditions_of_completions(server):
    name = "s3://public/ignored.npy"
    write(name, LARGE)
    late = plait.open(name, "w", shape=LARGE.shape, dtype="i8")
    late.write(LARGE)
    write(name, LARGE + 1)
    server.set_faults(ignore_match=True)
    with pytest.raises(plait.Error, match="another program has replaced or removed the object"):
        late.close()
    np.testing.assert_array_equal(np.load(io.BytesIO(content(server, "ignored.npy"))), LARGE + 1)
    assert uploads(server) == b"[]"


def test_weak_tags(server):
    name = "s3://public/weak.npy"
    write(name, LARGE)
    server.set_faults(weak_etag=True)
    with pytest.raises(plait.Error, match="no identity that it compares"):
        write(name, LARGE + 1)
    assert uploads(server) == b"[]"
    write(f"{name}?conditions=off", LARGE + 2)
    np.testing.assert_array_equal(np.load(io.BytesIO(content(server, "weak.npy"))), LARGE + 2)


def test_a_missing_folder(server, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    with pytest.raises(plait.Error, match="none \\(TMPDIR\\)"):
        write("s3://public/folder.npy", SMALL)


CLOSER = """
import sys, numpy as np, plait
file = plait.open(sys.argv[1], "w", shape=(3000000,), dtype="i8")
file.write(np.full(3000000, int(sys.argv[2])))
file.close()
"""

RANKS = """
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
def test_ranks(server, ranks, layout, name):
    packed = ["packed"] if name.startswith("z") else []
    job = launching.launch(ranks, sys.executable, "-c", RANKS, f"s3://public/{name}", layout, *packed)
    assert job.returncode == 0, job.stdout
    parts = [
        request for request in server.take_log() if request["method"] == "PUT" and "partNumber" in request["query"]
    ]
    assert packed or len({part["peer"] for part in parts}) >= min(ranks, 3)
    found = io.BytesIO(content(server, name.partition("::")[0]))
    if name == "f.npy":
        np.testing.assert_array_equal(np.load(found), LARGE)
    else:
        with h5py.File(found) as file:
            np.testing.assert_array_equal(file["x"][:], LARGE)
    assert uploads(server) == b"[]"


def test_sixteen_writers(server):
    """Exactly one of 16 programs that create an object at once succeeds, in each race."""
    code = CLOSER.replace("file.close()", "input()\nfile.close()")
    url = "s3://public/race.npy"
    programs = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                "print(1, flush=True)\n" + code.replace("input()", "print(2, flush=True)\ninput()"),
                url,
                str(number),
            ],
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
    found = np.load(io.BytesIO(content(server, "race.npy")))
    assert (found == winners[0]).all()


@pytest.mark.long
def test_kills(server):
    """A program that is killed leaves the old object or the new one."""
    draw = random.Random(5)
    url = "s3://public/killed.npy"
    write(url, np.full(3000000, -1))
    before = -1
    seen = set()
    for number in range(50):
        program = subprocess.Popen([sys.executable, "-c", CLOSER, url, str(number)])
        time.sleep(draw.uniform(0.05, 1.2))
        program.send_signal(signal.SIGKILL)
        program.wait()
        found = np.load(io.BytesIO(content(server, "killed.npy")))
        assert found.shape == (3000000,)
        assert (found == found[0]).all()
        assert found[0] in (before, number)
        seen.add(found[0] == number)
        before = found[0]
    assert seen == {True, False}
