"""HDF5: compressed chunks are changed in place, h5py reads the new values, and concurrent readers see the old ones."""

import ctypes
import os
import random
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest
from array_reads import open_error_text
from hdf5_files import CHUNK, make_array, write_dataset

import plait
from plait._base.libraries.hdf5 import find_library as find_hdf5_library

h5py = pytest.importorskip("h5py")

FILTERS = [
    {"compression": "gzip"},
    {"compression": "gzip", "shuffle": True, "fletcher32": True},
    {"compression": "lzf", "shuffle": True},
    {"fletcher32": True},
    {},
]


def read_by_h5py(path: object) -> np.ndarray:
    with h5py.File(path) as file:
        return file["a"][...]


def write_and_fail(file: plait.File, array: np.ndarray) -> None:
    file.write(array)
    raise RuntimeError


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", FILTERS)
@pytest.mark.parametrize("suffix", ["h5", "nc"])
def test_random_regions_are_changed(tmp_path, options, suffix):
    generator = random.Random(3)
    for number in range(8):
        shape = tuple(generator.randint(1, 15) for _ in range(generator.randint(1, 4)))
        chunks = tuple(generator.randint(1, size) for size in shape)
        dtype = generator.choice(["<i2", ">f8", "u1"])
        path = tmp_path / f"{number}.{suffix}"
        expected = np.full(shape, 9, dtype)
        with h5py.File(path, "w", track_order=bool(number % 2)) as file:
            maxshape = (None,) * len(shape) if number % 3 == 0 else shape
            stored = file.create_dataset("a", shape, dtype, chunks=chunks, fillvalue=9, maxshape=maxshape, **options)
            stored.attrs["units"] = "K"
            if number % 2:
                stored[:1] = expected[:1] = 4
            file["b"] = np.arange(5)
        for _ in range(2):
            with plait.open(f"{path}::a", "r+", memory=generator.choice([4096, 1 << 20])) as file:
                for value in range(3):
                    region = tuple(
                        slice(generator.randint(0, size - 1), size, generator.randint(1, 2)) for size in shape
                    )
                    expected[region] = value
                    file.write(np.ascontiguousarray(expected[region]), region=region)
                    np.testing.assert_array_equal(file.read(), expected)
            np.testing.assert_array_equal(read_by_h5py(path), expected)
            np.testing.assert_array_equal(plait.open(f"{path}::a").read(), expected)
        with h5py.File(path, "r+") as file:  # the library of h5py accepts the file
            file["a"][...] = file["a"][...] + 1
            file["c"] = file["a"][...]
            assert file["a"].attrs["units"] == "K"
            assert file["b"][...].tolist() == [0, 1, 2, 3, 4]
        np.testing.assert_array_equal(read_by_h5py(path), expected + 1)


def test_chunks_in_an_index_of_several_levels_are_changed(tmp_path):
    path = write_dataset(tmp_path / "a.h5", np.zeros((300, 40), "i4"), chunks=(1, 1), compression="gzip")
    expected = np.zeros((300, 40), "i4")
    with plait.open(path, "r+") as file:
        expected[::3, ::2] = 7
        file.write(np.full((100, 20), 7, "i4"), region=np.s_[::3, ::2])
    np.testing.assert_array_equal(read_by_h5py(path), expected)


@pytest.mark.parametrize("half", [1, 3])
def test_nodes_of_the_index_have_the_size_that_the_file_states(tmp_path, half):
    """Change a file whose nodes of the chunk index have up to 2 * `half` entries."""
    properties = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    library = ctypes.CDLL(find_hdf5_library() or "libhdf5.so")
    library.H5Pset_istore_k.argtypes = (ctypes.c_int64, ctypes.c_uint)
    assert library.H5Pset_istore_k(properties.id, half) >= 0
    name = str(tmp_path / "a.h5").encode()
    h5py.h5f.create(name, fcpl=properties).close()
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file.create_dataset("a", data=np.arange(50), chunks=(2,), compression="gzip")
    with plait.open(tmp_path / "a.h5", "r+") as file:
        file[10:31] = np.arange(21)
    assert read_by_h5py(tmp_path / "a.h5").tolist() == [*range(10), *range(21), *range(31, 50)]


def test_files_of_netcdf4_are_changed(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "a.nc"
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 30)
        group = file.createGroup("g")
        variable = group.createVariable("v", "f4", ("t", "x"), zlib=True, chunksizes=(4, 7), fill_value=-1)
        variable.units = "m"
        variable[:10] = np.arange(300).reshape(10, 30)
    expected = np.arange(300, dtype="f4").reshape(10, 30)
    with plait.open(f"{path}::g/v", "r+") as file:
        file[3:9:2, 5:] = 0
    expected[3:9:2, 5:] = 0
    with netcdf.Dataset(path, "a") as file:
        np.testing.assert_array_equal(file["g/v"][...].data, expected)
        file["g/v"][10] = 5
        file["g/v"].units = "km"
    with netcdf.Dataset(path) as file:
        np.testing.assert_array_equal(file["g/v"][:10].data, expected)
        assert (file["g/v"][10].data == 5).all()


def test_readers_see_the_old_chunks_until_the_file_is_closed(tmp_path):
    array = make_array("f4")
    path = write_dataset(tmp_path / "a.h5", array, chunks=CHUNK, compression="gzip")
    before = path.read_bytes()
    reader = plait.open(path)
    with h5py.File(path) as library_file, plait.open(path, "r+") as file:
        file.write(-array)
        np.testing.assert_array_equal(library_file["a"], array)
        np.testing.assert_array_equal(plait.open(path).read(), array)
        np.testing.assert_array_equal(file.read(), -array)
        assert path.read_bytes()[: len(before)] == before
    np.testing.assert_array_equal(reader.read(), array)
    np.testing.assert_array_equal(read_by_h5py(path), -array)


def test_an_exception_in_the_with_block_changes_nothing(tmp_path):
    array = make_array("f4")
    path = write_dataset(tmp_path / "a.h5", array, chunks=CHUNK, compression="gzip")
    before = path.read_bytes()
    with pytest.raises(RuntimeError), plait.open(path, "r+") as file:
        write_and_fail(file, -array)
    assert path.read_bytes() == before  # no bytes remain after the old end of the file
    with plait.open(path, "r+") as file:
        file.write(array[:1] * 2, region=np.s_[:1])
    np.testing.assert_array_equal(read_by_h5py(path)[:1], array[:1] * 2)
    np.testing.assert_array_equal(read_by_h5py(path)[1:], array[1:])


def test_a_second_writer_is_an_error(tmp_path):
    path = write_dataset(tmp_path / "a.h5", make_array("f4"), chunks=CHUNK, compression="gzip")
    with plait.open(path, "r+") as file:
        assert "are being changed" in open_error_text(plait.StoreError, path, mode="r+")
        with pytest.raises(OSError, match="lock"):
            h5py.File(path, "r+")
        file[0] = 5
    with plait.open(path, "r+") as file:
        file[1] = 6
    assert (read_by_h5py(path)[0] == 5).all()
    assert (read_by_h5py(path)[1] == 6).all()


INCREMENT_ROW = """
import sys
import numpy as np
import plait
row = np.s_[int(sys.argv[2]):int(sys.argv[2]) + 1]
for _ in range(25):
    while True:
        try:
            file = plait.open(sys.argv[1], "r+")
            break
        except plait.StoreError:
            pass
    with file:
        file.write(file.read(region=row) + 1, region=row)
"""


def test_programs_that_change_a_file_in_turn_lose_nothing(tmp_path):
    path = write_dataset(tmp_path / "a.h5", np.zeros((3, 50), "i4"), chunks=(1, 50), compression="gzip")
    programs = [subprocess.Popen([sys.executable, "-c", INCREMENT_ROW, str(path), str(row)]) for row in range(3)]
    assert [program.wait() for program in programs] == [0, 0, 0]
    assert (read_by_h5py(path) == 25).all()


@pytest.mark.parametrize(
    ("file_options", "message"),
    [
        ({"libver": "latest"}, "one of those that HDF5 has had since 1.10"),
        ({"userblock_size": 512}, "a user's own"),
        ({"fs_strategy": "page"}, "organized in pages"),
        ({"fs_strategy": "fsm", "fs_persist": True}, "which parts of it are free"),
    ],
)
def test_files_whose_compressed_chunks_cannot_change(tmp_path, file_options, message):
    with h5py.File(tmp_path / "a.h5", "w", **file_options) as file:
        file.create_dataset("a", data=make_array("f4"), chunks=CHUNK, compression="gzip")
    before = (tmp_path / "a.h5").read_bytes()
    assert message in open_error_text(plait.ArgumentError, tmp_path / "a.h5", mode="r+")
    assert (tmp_path / "a.h5").read_bytes() == before


def test_a_full_disk_changes_nothing(tmp_path):
    array = np.random.default_rng(1).random((64, 1000))
    path = write_dataset(tmp_path / "a.h5", array, chunks=(1, 1000), compression="gzip")
    size = path.stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for capacity in (100, 40_000, 300_000):
            file = plait.open(path, "r+")
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + capacity, limits[1]))
            with pytest.raises(plait.StoreError, match="File too large"), file:
                file.write(-array)
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            assert path.stat().st_size == size
            np.testing.assert_array_equal(read_by_h5py(path), array)
        # Data written before the disk was full stays and is in the file after close.
        with plait.open(path, "r+") as file:
            file.write(-array[:2], region=np.s_[:2])
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40_000, limits[1]))
            with pytest.raises(plait.StoreError, match="File too large"):
                file.write(-array[2:], region=np.s_[2:])
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            file.write(array[2:] + 1, region=np.s_[2:])
            np.testing.assert_array_equal(file.read(region=np.s_[2:]), array[2:] + 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    np.testing.assert_array_equal(read_by_h5py(path)[:2], -array[:2])
    np.testing.assert_array_equal(read_by_h5py(path)[2:], array[2:] + 1)


CHANGE_ALL = """
import sys
import numpy as np
import plait
path, value = sys.argv[1], float(sys.argv[2])
with plait.open(path, "r+") as file:
    for row in range(0, 300, 50):
        file.write(np.full((50, 200), value), region=np.s_[row:row + 50])
    print("written", flush=True)
"""


def test_kills_leave_the_old_chunks_or_the_new_ones(tmp_path, effort):
    generator = random.Random(5)
    path = write_dataset(tmp_path / "a.h5", np.zeros((300, 200)), chunks=(7, 30), compression="gzip")
    old = 0.0
    for value in range(1, effort.choose(4, 9)):
        program = subprocess.Popen([sys.executable, "-c", CHANGE_ALL, str(path), str(value)], stdout=subprocess.PIPE)
        assert program.stdout is not None
        if value % 2:  # kill the program while it closes the file
            program.stdout.readline()
            for _ in range(generator.randint(0, 30_000)):
                pass
            os.kill(program.pid, signal.SIGKILL)
        program.wait()
        program.stdout.close()
        actual = read_by_h5py(path)
        assert actual[0, 0] in (old, value)
        assert (actual == actual[0, 0]).all()
        assert value % 2 or actual[0, 0] == value
        old = actual[0, 0]


def test_damage_is_detected_before_anything_is_written(tmp_path):
    """With damaged metadata the file stays unchanged or has the complete change."""
    array = make_array("i4")
    for tracks_order in (False, True):  # another version of object headers
        path = write_dataset(tmp_path / "a.h5", array, chunks=CHUNK, compression="gzip", track_times=False)
        if tracks_order:
            with h5py.File(path, "w", track_order=True) as file:
                file.create_dataset("a", data=array, chunks=CHUNK, compression="gzip", track_order=True)
        intact = path.read_bytes()
        generator = random.Random(4)
        for _ in range(250):
            position = generator.randrange(min(len(intact), 4000))  # metadata is there
            damaged = bytearray(intact)
            damaged[position] ^= 1 << generator.randrange(8)
            path.write_bytes(damaged)
            try:
                with plait.open(path, "r+") as file:
                    file.write(array[:1, :1, :1].copy(), region=np.s_[:1, :1, :1])
            except plait.Error:
                assert path.read_bytes()[: len(intact)] == damaged


def test_a_changed_chunk_grows_the_file_by_little_more_than_itself(tmp_path):
    array = np.random.default_rng(1).random((100, 1000))
    path = write_dataset(tmp_path / "a.h5", array, chunks=(1, 1000), compression="gzip")
    before = path.stat().st_size
    with plait.open(path, "r+") as file:
        file.write(array[3:4], region=np.s_[3:4])
    # The chunk itself, nodes of the index that change with it, and alignment.
    assert path.stat().st_size - before < 8_000 + 2 * 4_000 + 4_096
