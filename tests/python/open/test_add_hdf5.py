"""Arrays that mode "a" adds to existing HDF5 files."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from killing import Killer

import plait
from plait._core import GrowthGroup

h5py = pytest.importorskip("h5py")

SHAPE = (6, 9)
STORAGE = {
    "one piece": {},
    "chunks": {"chunks": (2, 4)},
    "deflate": {"chunks": (4, 4), "codec": "shuffle,gzip:3"},
    "fill value": {"chunks": (4, 4), "fill_value": -7},
    "unlimited": {"unlimited": [0], "chunks": (4, 5)},
}


def write_objects(path, libver="earliest"):
    """Write a file with a few objects, and return their content."""
    rng = np.random.default_rng(0)
    with h5py.File(path, "w", libver=libver) as file:
        file["other"] = np.arange(1000)
        file.create_dataset("g/packed", data=rng.integers(0, 9, (50, 8)), chunks=(7, 8), compression="gzip")
        file["g"].attrs["note"] = "x" * 100
        file["text"] = ["a", "bcd", ""]
        file["again"] = h5py.SoftLink("/other")
    return read_old_objects(path)


def read_old_objects(path):
    """Return the content of the objects that write_objects() writes."""
    with h5py.File(path) as file:
        return (*(file[name][...].tolist() for name in ("other", "g/packed", "text", "again")), file["g"].attrs["note"])


def random_array(shape, seed=0, dtype="i4"):
    return np.random.default_rng(seed).integers(1, 1000, shape).astype(dtype)


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("name", ["v", "g/v", "new/groups/v"])
def test_arrays_are_added(tmp_path, storage, libver, name):
    path = tmp_path / "a.h5"
    before = write_objects(path, libver)
    array = random_array(SHAPE)
    with plait.open(f"{path}::/{name}", "a", shape=SHAPE, dtype="i4", **STORAGE[storage]) as file:
        file.attrs["units"] = "K"
        file.write(array)
        np.testing.assert_array_equal(file.read(), array)
        with h5py.File(path) as other:
            assert name not in other  # the array appears when the file is closed
    assert read_old_objects(path) == before
    with h5py.File(path, "a") as file:
        dataset = file[name]
        np.testing.assert_array_equal(dataset[...], array)
        assert dataset.attrs["units"] == "K"
        assert dataset.chunks == STORAGE[storage].get("chunks")
        assert (dataset.compression == "gzip") == (storage == "deflate")
        assert dataset.maxshape == (None if storage == "unlimited" else 6, 9)
        # The library can change the file further.
        file["later"] = np.arange(3)
        dataset[1, 2] = -5
    array[1, 2] = -5
    with plait.open(f"{path}::/{name}") as file:
        np.testing.assert_array_equal(file.read(), array)
    assert not list(tmp_path.glob(".a*"))


@pytest.mark.parametrize("storage", STORAGE)
def test_unwritten_elements_have_the_fill_value(tmp_path, storage):
    path = tmp_path / "a.h5"
    write_objects(path)
    with path.open("ab") as file:
        file.write(b"\xff" * 100_000)  # bytes that a killed program left
    expected = np.full(SHAPE, STORAGE[storage].get("fill_value", 0), "i4")
    with plait.open(f"{path}::v", "a", shape=SHAPE, dtype="i4", **STORAGE[storage]) as file:
        np.testing.assert_array_equal(file.read(), expected)
        file.write(np.array([[3, 4]], "i4"), region=np.s_[2:3, 3:5])
    with plait.open(f"{path}::w", "a", shape=SHAPE, dtype="i4", **STORAGE[storage]):
        pass
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["w"][...], expected)
        expected[2, 3:5] = 3, 4
        np.testing.assert_array_equal(file["v"][...], expected)


@pytest.mark.parametrize("dtype", ["f8", "?", "c8", "S5", "f2", "u8", [("a", "<i4"), ("b", ">f8", (2,))]])
def test_arrays_of_all_types_and_scalars_are_added(tmp_path, dtype):
    path = tmp_path / "a.h5"
    write_objects(path)
    dtype = np.dtype(dtype)
    raw = np.random.default_rng(1).integers(0, 2, 30 * dtype.itemsize).astype("u1")
    array = raw.view(dtype).reshape(5, 6)
    with plait.open(f"{path}::v", "a", shape=(5, 6), dtype=dtype) as file:
        file.write(array)
    with plait.open(f"{path}::s", "a", shape=(), dtype=dtype) as file:
        file.write(array[0, 0, np.newaxis].reshape(()))
    with plait.open(f"{path}::e", "a", shape=(0, 3), dtype=dtype):
        pass
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["v"][...], array)
        assert file["s"][()].tobytes() == array[0, 0].tobytes()
        assert file["e"].shape == (0, 3)
    with plait.open(f"{path}::v") as file:
        assert file.dtype == dtype


def test_a_scalar_has_its_fill_value(tmp_path):
    write_objects(tmp_path / "a.h5")
    with plait.open(f"{tmp_path}/a.h5::s", "a", shape=(), dtype="f4", fill_value=2.5):
        pass
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["s"][()] == 2.5


@pytest.mark.parametrize("options", [{}, {"chunks": (2,)}])
def test_texts_are_added(tmp_path, options):
    write_objects(tmp_path / "a.h5")
    texts = ["", "ä" * 3000, "b", "c"]
    with plait.open(f"{tmp_path}/a.h5::/t", "a", shape=4, dtype="text", **options) as file:
        file.write(texts)
    with h5py.File(tmp_path / "a.h5") as file:
        assert list(file["t"].asstr()) == texts
    with plait.open(f"{tmp_path}/a.h5::/t") as file:
        assert list(file.read()) == texts


@pytest.mark.parametrize("options", [{"chunks": (3, 9)}, {"chunks": (3, 9), "codec": "gzip"}, {}])
def test_a_new_array_grows_before_and_after_close(tmp_path, options):
    path = tmp_path / "a.h5"
    before = write_objects(path)
    expected = np.zeros((0, 9), "i4")
    with plait.open(f"{path}::v", "a", shape=(0, 9), dtype="i4", unlimited=[0], **options) as file:
        for number, size in enumerate((4, 0, 1, 7)):
            added = random_array((size, 9), number)
            file.append(added)
            expected = np.concatenate((expected, added))
            np.testing.assert_array_equal(file.read(), expected)
        file.resize((8, 9))
        file.resize((10, 9))
        expected = np.concatenate((expected[:8], np.zeros((2, 9), "i4")))
    for number in range(2):
        added = random_array((5, 9), number)
        with plait.open(f"{path}::v", "a") as file:
            file.append(added)
        expected = np.concatenate((expected, added))
        with h5py.File(path) as file:
            np.testing.assert_array_equal(file["v"][...], expected)
            assert file["v"].chunks == options.get("chunks", file["v"].chunks)
    assert read_old_objects(path) == before


def test_many_arrays_are_added(tmp_path):
    path = tmp_path / "a.h5"
    before = write_objects(path)
    for number in range(60):
        options = {"chunks": (2, 2)} if number % 2 else {}
        with plait.open(f"{path}::g{number % 5}/v{number}", "a", shape=SHAPE, dtype="i4", **options) as file:
            file.write(random_array(SHAPE, number))
    with h5py.File(path) as file:
        for number in range(60):
            np.testing.assert_array_equal(file[f"g{number % 5}/v{number}"][...], random_array(SHAPE, number))
    assert read_old_objects(path) == before


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("suffix", [".h5", ".nc"])
def test_random_arrays_are_added(tmp_path, seed, suffix):
    """Each array is written in pieces, by random layouts, and some arrays grow; all others stay unchanged."""
    rng = np.random.default_rng(seed)
    path = tmp_path / f"a{suffix}"
    write_objects(path, "latest" if seed % 2 else "earliest")
    expected = {}
    for number in range(12):
        shape = tuple(int(size) for size in rng.integers(0 if number % 3 else 1, 12, rng.integers(1, 4)))
        dtype = np.dtype(rng.choice(["f8", "i2", "u1", "f4", "i8"]))
        options = {"unlimited": [0]} if rng.random() < 0.4 else {}
        if 0 not in shape and rng.random() < 0.6:
            options["chunks"] = tuple(int(rng.integers(1, size + 1)) for size in shape)
            options["codec"] = str(rng.choice(["none", "gzip:1", "shuffle,gzip:2"]))
        if rng.random() < 0.4:
            options["dimension_names"] = [
                f"d{d}_{size}_{int('unlimited' in options and d == 0)}" for d, size in enumerate(shape)
            ]
        if rng.random() < 0.3 and "chunks" in options:
            options["fill_value"] = 3
        name = "/".join([f"g{rng.integers(3)}"] * int(rng.integers(3)) + [f"v{number}"])
        array = np.full(shape, options.get("fill_value", 0), dtype)
        with plait.open(f"{path}::{name}", "a", shape=shape, dtype=dtype, **options) as file:
            for _ in range(rng.integers(4)):
                begin = [int(rng.integers(0, size + 1)) for size in shape]
                region = tuple(
                    slice(start, int(rng.integers(start, size + 1))) for start, size in zip(begin, shape, strict=True)
                )
                values = rng.integers(0, 99, array[region].shape).astype(dtype)
                layout = plait.Layout(values.shape, ["cyclic", *["*"] * (len(shape) - 1)], grid=(3,))
                file.write([values[np.ix_(*layout.indices(rank))] for rank in range(3)], layout, region=region)
                array[region] = values
            if "unlimited" in options and rng.random() < 0.5:
                added = rng.integers(0, 99, (int(rng.integers(0, 9)), *shape[1:])).astype(dtype)
                file.append(added)
                array = np.concatenate((array, added))
            np.testing.assert_array_equal(file.read(), array)
        expected[name] = array
    with h5py.File(path) as file:
        for name, array in expected.items():
            np.testing.assert_array_equal(file[name][...], array)
    for name, array in expected.items():
        with plait.open(f"{path}::{name}") as file:
            np.testing.assert_array_equal(file.read()[tuple(map(slice, array.shape))], array)


def test_arrays_are_added_by_layouts_of_several_ranks(tmp_path):
    write_objects(tmp_path / "a.h5")
    array = random_array(SHAPE)
    layout = plait.Layout(array.shape, "(cyclic, block)", grid=(2, 2))
    for name, options in STORAGE.items():
        parts = [array[np.ix_(*layout.indices(rank))] for rank in range(4)]
        with plait.open(f"{tmp_path}/a.h5::/{name}", "a", shape=SHAPE, dtype="i4", **options) as file:
            file.write(parts, layout)
        with h5py.File(tmp_path / "a.h5") as file:
            np.testing.assert_array_equal(file[name][...], array)


ADD = """
import sys
import numpy as np
import plait
options = {"chunks": (4, 4), "codec": "gzip"} if sys.argv[3] == "chunks" else {}
file = plait.open(sys.argv[1] + "::new/v", "a", shape=(6, 9), dtype="i4", dimension_names=["y", "x"], **options)
file.write(np.full((6, 9), 99, "i4"))
open(sys.argv[2], "w").close()
file.close()
"""


@pytest.mark.parametrize("storage", ["chunks", "one piece"])
@pytest.mark.parametrize("suffix", [".h5", ".nc"])
def test_a_kill_leaves_no_array_or_the_complete_array(tmp_path, storage, suffix):
    original, path = tmp_path / f"original{suffix}", tmp_path / f"a{suffix}"
    killer = Killer(tmp_path, original, path)
    before = write_objects(original)

    states = []  # after each kill, whether the array is there
    kill_at = 0
    while (code := killer.run(kill_at, ADD, storage)) != 0:
        assert code == -signal.SIGKILL
        is_added = "new/v" in [info.name for info in plait.arrays_in(path)]
        assert read_old_objects(path) == before
        with h5py.File(path) as file:
            assert ("new/v" in file) == is_added, kill_at
            if is_added:
                np.testing.assert_array_equal(file["new/v"][...], np.full(SHAPE, 99))
        assert not list(tmp_path.glob(".a.*"))
        states.append(is_added)
        kill_at += 1 if kill_at < 4 else 5  # not every call, to save time
    assert states == sorted(states)
    assert set(states) == {False, True}
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["new/v"][...], np.full(SHAPE, 99))


@pytest.mark.parametrize("storage", STORAGE)
def test_killed_and_failed_programs_add_nothing(tmp_path, storage):
    path = tmp_path / "a.h5"
    before = write_objects(path)
    size = path.stat().st_size
    program = (
        "import numpy as np, os, plait, signal\n"
        f"file = plait.open('a.h5::/g/v', 'a', shape=(6, 9), dtype='i4', **{STORAGE[storage]})\n"
        "file.write(np.full((6, 9), 99, 'i4'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
    assert result.returncode == -signal.SIGKILL
    assert read_old_objects(path) == before
    with pytest.raises(plait.ArgumentError), plait.open(f"{path}::v", "a", shape=SHAPE, dtype="i4") as file:
        file.write(random_array((2, 2)))
    assert read_old_objects(path) == before
    assert sorted(info.name for info in plait.arrays_in(path)) == ["g/packed", "other", "text"]
    with plait.open(f"{path}::/g/v", "a", shape=SHAPE, dtype="i4", **STORAGE[storage]) as file:
        file.write(random_array(SHAPE))
    assert read_old_objects(path) == before
    assert path.stat().st_size < size + 40_000


def test_a_second_writer_is_an_error(tmp_path):
    path = tmp_path / "a.h5"
    write_objects(path)
    new = {"shape": SHAPE, "dtype": "i4"}
    with plait.open(f"{path}::v", "a", **new) as file:
        for name in ("v", "w"):
            with pytest.raises(plait.StoreError, match="are being changed, by another program or under another name"):
                plait.open(f"{path}::{name}", "a", **new)
        file.write(random_array(SHAPE))
    with pytest.raises(plait.ArgumentError, match="it is contiguous, and only datasets in chunks grow"):
        plait.open(f"{path}::v", "a", **new)  # the array exists now
    with plait.open(f"{path}::v") as file:
        np.testing.assert_array_equal(file.read(), random_array(SHAPE))


@pytest.mark.parametrize("dtype", ["i4", "text"])
def test_an_array_truncated_by_another_program_is_not_added(tmp_path, dtype):
    path = tmp_path / "a.h5"
    before = write_objects(path)
    size = path.stat().st_size
    file = plait.open(f"{path}::v", "a", shape=3, dtype=dtype)
    file.write(["a", "b" * 3000, "c"] if dtype == "text" else random_array(3))
    # HDF5's library truncates the file at close; only the texts are at its end.
    os.truncate(path, path.stat().st_size - 1 if dtype == "text" else size)
    with pytest.raises(plait.StoreError, match="has been changed by another program meanwhile"):
        file.close()
    assert read_old_objects(path) == before
    assert "v" not in [info.name for info in plait.arrays_in(path)]


def test_a_growth_group_adds_several_arrays_together(tmp_path):
    path = tmp_path / "a.h5"
    before = write_objects(path)
    group = GrowthGroup(str(path), 3)
    for number, options in enumerate(({}, {"chunks": (2, 2)}, {})):
        with plait.open(f"{path}::new/v{number}", "a", shape=SHAPE, dtype="i4", **options) as file:
            file.write(random_array(SHAPE, number))
        with h5py.File(path) as file:
            assert ("new" in file) == (number == 2)
    group.end()
    with h5py.File(path) as file:
        for number in range(3):
            np.testing.assert_array_equal(file[f"new/v{number}"][...], random_array(SHAPE, number))
    assert read_old_objects(path) == before


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("g", {}, "is a group"),
        ("other/v", {}, '"other" is not a group in the file'),
        ("a//b", {}, "is no part of the name"),
        ("v", {"shape": None}, "is not there; .*a.h5 holds: "),
        ("v", {"dtype": "M8[D]x"}, "M8"),
        ("v", {"chunks": (2, 0)}, "do not fit an array"),
        ("v", {"codec": "zip"}, "zip"),
        ("v", {"shards": (4, 4)}, "shards were given"),
        ("v", {"order": "F"}, "order C"),
        ("v", {"unlimited": [2]}, "unlimited dimension 2"),
        ("v", {"dimension_names": ["x"]}, "1 names were given for 2 dimensions"),
    ],
)
def test_errors_change_nothing(tmp_path, name, options, message):
    path = tmp_path / "a.h5"
    write_objects(path)
    before = path.read_bytes()
    with pytest.raises(plait.Error, match=message):
        plait.open(f"{path}::{name}", "a", **{"shape": SHAPE, "dtype": "i4", **options})
    assert path.read_bytes() == before


def test_matching_dimensions_of_hdf5_are_shared(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(9)
        file["x"].make_scale("x")
    for name, names in (("v", ["y", "x"]), ("y", ["y"]), ("w", ["y", "x"]), ("u", ["x", "y"])):
        shape = SHAPE if len(names) == 2 else (6,)
        with plait.open(f"{path}::{name}", "a", shape=shape, dtype="i4", dimension_names=names):
            pass
    with h5py.File(path) as file:
        assert [dimension.label for dimension in file["v"].dims] == ["y", "x"]
        assert file["v"].dims[1][0] == file["x"]
        assert [scales[0].name for scales in file["w"].dims] == ["/y", "/x"]
        assert [len(scales) for scales in file["u"].dims] == [0, 0]  # the scales have other lengths
    assert {info.name: info.dimension_names for info in plait.arrays_in(path)}["u"] == ("x", "y")
