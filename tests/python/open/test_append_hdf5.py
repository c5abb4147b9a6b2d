"""HDF5 and netCDF-4 datasets that grow in mode "a", and what other programs see of them meanwhile and after kills."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from killing import Killer

import plait
from plait._core import GrowthGroup

h5py = pytest.importorskip("h5py")
netcdf4 = pytest.importorskip("netCDF4")

SHAPE = (5, 7)
FILTERS = {
    "plain": {},
    "deflate": {"compression": "gzip", "shuffle": True},
    "check sums": {"fletcher32": True},
}
# Version of the file format, maximum shape and chunks, for which HDF5 creates a chunk index of each kind: a version 1
# B-tree, an extensible array, a version 2 B-tree, a fixed array, or a single chunk.
INDICES = {
    "tree 1": ("earliest", (None, None), (2, 3)),
    "extensible": ("latest", (None, 7), (2, 3)),
    "extensible along the second": ("latest", (5, None), (2, 3)),
    "tree 2": ("latest", (None, None), (2, 3)),
    "fixed": ("latest", (40, 40), (2, 3)),
    "single": ("latest", (5, 7), (5, 7)),
}


def write_dataset(path, index="tree 1", filters="plain", name="g/v", **options):
    libver, maxshape, chunks = INDICES[index]
    array = np.arange(np.prod(SHAPE), dtype="i4").reshape(SHAPE) + 1
    with h5py.File(path, "w", libver=libver) as file:
        file.create_dataset(name, data=array, maxshape=maxshape, chunks=chunks, **FILTERS[filters], **options)
        file["other"] = np.arange(3)
    return array


def read_by_h5py(path, name="g/v"):
    with h5py.File(path) as file:
        assert list(file["other"]) == [0, 1, 2]
        return file[name][...]


def random_array(shape, seed=0):
    return np.random.default_rng(seed).integers(1, 1000, shape).astype("i4")


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("index", [index for index in INDICES if index != "single"])
def test_blocks_of_all_sizes_are_appended(tmp_path, index, filters):
    expected = write_dataset(tmp_path / "a.h5", index, filters)
    for axis in (0, 1):
        if INDICES[index][1][axis] in SHAPE:
            continue
        for number, size in enumerate((1, 0, 3, 9)):
            shape = [*expected.shape]
            shape[axis] = size
            added = random_array(shape, number)
            with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
                file.append(added, axis=axis)
                expected = np.concatenate((expected, added), axis)
                assert file.shape == expected.shape
                np.testing.assert_array_equal(file.read(), expected)
            np.testing.assert_array_equal(read_by_h5py(tmp_path / "a.h5"), expected)
            with plait.open(f"{tmp_path}/a.h5::/g/v") as file:
                np.testing.assert_array_equal(file.read(), expected)
    # The library can change the file further.
    with h5py.File(tmp_path / "a.h5", "a") as file:
        axis = 0 if INDICES[index][1][0] != 5 else 1
        shape = [*expected.shape]
        shape[axis] += 4
        file["g/v"].resize(shape)
        assert not np.delete(file["g/v"][...], range(expected.shape[axis]), axis).any()
    assert not (tmp_path / ".a.h5.plait-journal").exists()


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("index", ["tree 1", "extensible", "tree 2"])
def test_many_blocks_are_appended_before_close(tmp_path, index, filters):
    expected = write_dataset(tmp_path / "a.h5", index, filters)
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        for number in range(6):
            added = random_array((number, 7), number)
            file.append(added)
            expected = np.concatenate((expected, added))
            np.testing.assert_array_equal(file.read(), expected)
        assert read_by_h5py(tmp_path / "a.h5").shape == SHAPE  # the shape changes when the file is closed
    np.testing.assert_array_equal(read_by_h5py(tmp_path / "a.h5"), expected)


def test_blocks_are_appended_by_layouts_of_several_ranks(tmp_path):
    expected = write_dataset(tmp_path / "a.h5", "tree 2", "deflate")
    added = random_array((6, 7))
    layout = plait.Layout(added.shape, "(cyclic, block)", grid=(2, 2))
    parts = [added[np.ix_(*layout.indices(rank))] for rank in range(4)]
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        file.append(parts, layout)
    np.testing.assert_array_equal(read_by_h5py(tmp_path / "a.h5"), np.concatenate((expected, added)))


def test_a_dataset_of_many_chunks_grows(tmp_path):
    for libver in ("earliest", "latest"):
        expected = random_array((3000, 2))
        with h5py.File(tmp_path / "a.h5", "w", libver=libver) as file:
            file.create_dataset("v", data=expected, maxshape=(None, 2), chunks=(1, 2), compression="gzip")
        for number in range(3):
            added = random_array((1500, 2), number)
            with plait.open(f"{tmp_path}/a.h5::/v", "a") as file:
                file.append(added)
            expected = np.concatenate((expected, added))
        with h5py.File(tmp_path / "a.h5") as file:
            np.testing.assert_array_equal(file["v"][...], expected)


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("index", ["tree 1", "tree 2", "fixed"])
def test_resizing_discards_elements_and_fills_new_ones(tmp_path, index, filters):
    expected = write_dataset(tmp_path / "a.h5", index, filters, fillvalue=-7)
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        file.resize((3, 9))  # smaller and larger
        grown = np.full((3, 9), -7, "i4")
        grown[:, :7] = expected[:3]
        np.testing.assert_array_equal(file.read(), grown)
        file.resize((8, 4))
        resized = np.full((8, 4), -7, "i4")
        resized[:3] = grown[:, :4]
        np.testing.assert_array_equal(file.read(), resized)
        added = random_array((2, 4))
        file.append(added)
        resized = np.concatenate((resized, added))
        np.testing.assert_array_equal(file.read(), resized)
    np.testing.assert_array_equal(read_by_h5py(tmp_path / "a.h5"), resized)
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        file.resize((0, 4))
    assert read_by_h5py(tmp_path / "a.h5").shape == (0, 4)
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        file.append(added)
    np.testing.assert_array_equal(read_by_h5py(tmp_path / "a.h5"), added)


@pytest.mark.parametrize("filters", FILTERS)
def test_resizing_after_writes_loses_no_chunk(tmp_path, filters):
    """A smaller shape takes effect at once; afterwards only chunks within it are entered into the index."""
    array, added = random_array((5, 4)), random_array((3, 4), 1)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        options = {"maxshape": (None, None), **FILTERS[filters]}
        file.create_dataset("rows", data=array, chunks=(2, 4), **options)
        file.create_dataset("parts", data=array, chunks=(2, 2), **options)
    with plait.open(f"{tmp_path}/a.h5::/rows", "a") as file:
        file.append(added)
        file.resize((8, 2))
    with plait.open(f"{tmp_path}/a.h5::/parts", "a") as file:
        file.write(np.array([[1001, 1002]], "i4"), region=np.s_[4:5, 0:2])
        file.resize((5, 3))
        file.resize((6, 3))
        file.write(np.array([[1003]], "i4"), region=np.s_[5:6, 2:3])
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["rows"][...], np.concatenate((array, added))[:, :2])
        expected = np.zeros((6, 3), "i4")
        expected[:5] = array[:, :3]
        expected[4, :2] = 1001, 1002
        expected[5, 2] = 1003
        np.testing.assert_array_equal(file["parts"][...], expected)


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("index", ["tree 1", "extensible", "tree 2", "fixed"])
def test_a_killed_append_leaves_the_old_length_and_no_elements(tmp_path, index, filters):
    expected = write_dataset(tmp_path / "a.h5", index, filters, fillvalue=-7)
    program = (
        "import numpy as np, os, plait, signal\n"
        "file = plait.open('a.h5::/g/v', 'a')\n"
        "file.append(np.full((6, 7), 99, 'i4'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    for _ in range(2):
        result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
        assert result.returncode == -signal.SIGKILL
        np.testing.assert_array_equal(read_by_h5py(tmp_path / "a.h5"), expected)
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        file.resize((13, 7))
        np.testing.assert_array_equal(file.read()[5:], -7)
    actual = read_by_h5py(tmp_path / "a.h5")
    np.testing.assert_array_equal(actual[:5], expected)
    np.testing.assert_array_equal(actual[5:], -7)


APPEND = """
import sys
import numpy as np
import plait
file = plait.open(sys.argv[1] + "::g/v", "a")
file.append(np.full((6, 7), 99, "i4"))
open(sys.argv[2], "w").close()
file.close()
"""


@pytest.mark.parametrize("index", ["tree 1", "extensible", "tree 2"])
def test_a_kill_leaves_the_old_or_the_new_length(tmp_path, index):
    original, path = tmp_path / "original.h5", tmp_path / "a.h5"
    killer = Killer(tmp_path, original, path)
    before = write_dataset(original, index, "deflate")
    after = np.concatenate((before, np.full((6, 7), 99, "i4")))

    lengths = []  # after each kill
    kill_at = 0
    while (code := killer.run(kill_at, APPEND)) != 0:
        assert code == -signal.SIGKILL
        with plait.open(f"{path}::g/v") as file:
            actual = file.read()
        assert np.array_equal(actual, before) or np.array_equal(actual, after), kill_at
        np.testing.assert_array_equal(read_by_h5py(path), actual)
        assert not list(tmp_path.glob(".a.*"))
        lengths.append(len(actual))
        kill_at += 1 if kill_at < 4 else 5  # not every call, to save time
    assert lengths == sorted(lengths)
    assert set(lengths) == {len(before), len(after)}
    np.testing.assert_array_equal(read_by_h5py(path), after)


def test_a_second_program_that_appends_gets_an_error(tmp_path):
    expected = write_dataset(tmp_path / "a.h5")
    added = random_array((2, 7))
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        with pytest.raises(plait.StoreError, match="are being changed, by another program or under another name"):
            plait.open(f"{tmp_path}/a.h5::/g/v", "a")
        with pytest.raises(OSError, match="lock"):
            h5py.File(tmp_path / "a.h5", "a")
        file.append(added)
    np.testing.assert_array_equal(read_by_h5py(tmp_path / "a.h5"), np.concatenate((expected, added)))


def test_a_growth_group_excludes_other_writers_of_its_file(tmp_path):
    write_dataset(tmp_path / "a.h5")
    write_dataset(tmp_path / "b.h5")
    group = GrowthGroup(str(tmp_path / "a.h5"), 2)
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        with pytest.raises(plait.StoreError, match="its file is being extended in this process"):
            plait.open(f"{tmp_path}/a.h5::/g/v", "a")
        plait.open(f"{tmp_path}/b.h5::/g/v", "a").close()
        file.append(random_array((2, 7)))
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        assert file.shape == SHAPE  # both changes take effect together
    group.end()
    assert read_by_h5py(tmp_path / "a.h5").shape == (7, 7)


def test_attributes_change_at_the_same_time(tmp_path):
    write_dataset(tmp_path / "a.h5")
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        file.append(random_array((2, 7)))
        file.attrs["note"] = "longer"
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["g/v"].shape == (7, 7)
        assert file["g/v"].attrs["note"] == "longer"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "contiguous, and only datasets in chunks grow"),
        ({"chunks": (2, 3)}, "none of its dimensions is unlimited"),
    ],
)
def test_datasets_with_fixed_shapes_cannot_grow(tmp_path, options, message):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("v", data=np.zeros(SHAPE), **options)
    before = (tmp_path / "a.h5").read_bytes()
    with pytest.raises(plait.ArgumentError, match=message):
        plait.open(f"{tmp_path}/a.h5::/v", "a")
    assert (tmp_path / "a.h5").read_bytes() == before


def test_a_dimension_has_a_maximum(tmp_path):
    write_dataset(tmp_path / "a.h5", "fixed")
    with plait.open(f"{tmp_path}/a.h5::/g/v", "a") as file:
        with pytest.raises(plait.ArgumentError, match="its dimension 0 has at most 40 elements"):
            file.append(np.zeros((36, 7), "i4"))
        with pytest.raises(plait.ArgumentError, match="float64"):
            file.append(np.zeros((1, 7), "f8"))
    assert read_by_h5py(tmp_path / "a.h5").shape == SHAPE


def test_virtual_and_text_datasets_cannot_grow(tmp_path):
    write_dataset(tmp_path / "a.h5")
    with h5py.File(tmp_path / "b.h5", "w") as file:
        layout = h5py.VirtualLayout((5, 7), "i4", maxshape=(None, 7))
        layout[:5] = h5py.VirtualSource(tmp_path / "a.h5", "g/v", SHAPE)
        file.create_virtual_dataset("virtual", layout)
        file.create_dataset("text", data=["a", "b"], maxshape=(None,), dtype=h5py.string_dtype())
    for name, message in (("virtual", "cannot grow"), ("text", "texts")):
        with pytest.raises(plait.ArgumentError, match=message):
            plait.open(f"{tmp_path}/b.h5::/{name}", "a")


def test_arrays_as_elements_and_records_are_appended(tmp_path):
    records = np.dtype([("a", "<i4"), ("b", ">f8")])
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("v", dtype="(2,)f4", shape=(3,), maxshape=(None,), chunks=(2,))
        file.create_dataset("r", data=np.zeros(3, records), maxshape=(None,), chunks=(2,), compression="gzip")
    with plait.open(f"{tmp_path}/a.h5::/v", "a") as file:
        assert file.shape == (3, 2)
        with pytest.raises(plait.ArgumentError, match="belongs to the elements"):
            file.append(np.zeros((3, 1), "f4"), axis=1)
        file.append(np.ones((2, 2), "f4"))
    with plait.open(f"{tmp_path}/a.h5::/r", "a") as file:
        file.append(np.ones(4, records))
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["v"][...], [[0, 0]] * 3 + [[1, 1]] * 2)
        np.testing.assert_array_equal(file["r"][...], np.r_[np.zeros(3, records), np.ones(4, records)])


def test_datasets_with_early_allocation_grow(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        space = h5py.h5s.create_simple((5, 7), (h5py.h5s.UNLIMITED, 7))
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk((2, 3))
        properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        h5py.h5d.create(file.id, b"v", h5py.h5t.NATIVE_INT32, space, properties)
    with plait.open(f"{tmp_path}/a.h5::/v", "a") as file:
        file.append(np.ones((4, 7), "i4"))
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["v"][...], np.r_[np.zeros((5, 7)), np.ones((4, 7))])


def test_other_netcdf_variables_get_fill_values(tmp_path):
    with netcdf4.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 4)
        file.createVariable("time", "f8", ("time",))[:] = [0, 1, 2]
        file.createVariable("v", "i2", ("time", "x"), zlib=True)[:] = np.ones((3, 4))
        file.createVariable("w", "i2", ("time", "x"), fill_value=-5)[:] = np.ones((3, 4))
    with plait.open(f"{tmp_path}/a.nc::/v", "a") as file:
        file.append(np.full((2, 4), 2, "i2"))
    with netcdf4.Dataset(tmp_path / "a.nc") as file:
        file.set_auto_mask(False)
        assert len(file.dimensions["time"]) == 5
        np.testing.assert_array_equal(file["v"][:], [[1] * 4] * 3 + [[2] * 4] * 2)
        np.testing.assert_array_equal(file["w"][:], [[1] * 4] * 3 + [[-5] * 4] * 2)
    # The file stores a separate length for each variable, at which append() continues.
    for name, added in (("time", np.array([3.0, 4.0])), ("w", np.full((2, 4), 3, "i2"))):
        with plait.open(f"{tmp_path}/a.nc::/{name}", "a") as file:
            assert len(file.read()) == 3
            file.append(added)
    with netcdf4.Dataset(tmp_path / "a.nc") as file:
        np.testing.assert_array_equal(file["time"][:], [0, 1, 2, 3, 4])
        np.testing.assert_array_equal(file["w"][:], [[1] * 4] * 3 + [[3] * 4] * 2)
    with netcdf4.Dataset(tmp_path / "a.nc", "a") as file:
        file["v"][5] = 7
        file["time"][5] = 5


def test_appending_grows_the_file_by_little_more_than_the_block(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("v", data=random_array((365, 32, 32)), maxshape=(None, 32, 32), chunks=(1, 32, 32))
    size = (tmp_path / "a.h5").stat().st_size
    for _ in range(3):
        with plait.open(f"{tmp_path}/a.h5::/v", "a") as file:
            file.append(random_array((1, 32, 32)))
    assert (tmp_path / "a.h5").stat().st_size < size + 3 * (4096 + 3000)
