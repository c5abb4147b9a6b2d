"""Arrays in object stores: URLs such as memory://bucket/data.zarr wherever Plait takes a name."""

import os
from pathlib import Path

import numpy as np
import pytest
from forking import run_in_child
from zarr_locations import MemoryPath

import plait
from plait.cli.describing import describe

ARRAY = np.arange(60, dtype="i4").reshape(10, 6)


@pytest.fixture
def bucket():
    """Return an empty location in memory."""
    location = MemoryPath("memory://urls/run")
    yield location
    location.clear()


def write(url, array=ARRAY, **options):
    with plait.open(url, "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)


def test_arrays_are_written_read_and_changed(bucket):
    url = f"{bucket}/a.zarr"
    write(url, chunks=(4, 3), codec="zstd", attributes={"units": "K"})
    with plait.open(url, "r+") as file:
        assert file.chunks == (4, 3)
        file.write(ARRAY[2:5] * 2, region=np.s_[2:5])
        file.attrs["units"] = "m"
        del file.attrs["units"]
        file.attrs["long_name"] = "depth"
    with plait.open(url) as file:
        expected = ARRAY.copy()
        expected[2:5] *= 2
        np.testing.assert_array_equal(file.read(), expected)
        assert dict(file.attrs) == {"long_name": "depth"}
    write(url, ARRAY[:2])
    assert plait.open(url).shape == (2, 6)


def test_an_incomplete_array_does_not_exist(bucket):
    url = f"{bucket}/a.zarr"
    file = plait.open(url, "w", shape=ARRAY.shape, dtype="i4")
    file.write(ARRAY)
    with pytest.raises(FileNotFoundError):
        plait.open(url)
    file.__exit__(KeyError, KeyError(), None)
    assert bucket.names() == []


def test_hierarchies_are_listed_and_described(bucket):
    url = f"{bucket}/data.zarr"
    write(f"{url}::/ocean/depth", attributes={"units": "m"}, dimension_names=["x", "y"])
    write(f"{url}::/ocean/deep/t", ARRAY * 2)
    write(f"{url}::/land", ARRAY[0])
    assert [info.name for info in plait.arrays_in(url)] == ["land", "ocean/deep/t", "ocean/depth"]
    assert [group.name for group in plait.groups_in(url)] == ["", "ocean", "ocean/deep"]
    description = describe(url, {})
    assert description["kind"] == "Zarr in memory://"
    assert [array["shape"] for array in description["arrays"]] == [[6], [10, 6], [10, 6]]
    assert description["size"] == sum(array["stored"] for array in description["arrays"]) > 0
    array_description = describe(f"{url}::/ocean/depth", {})
    assert (array_description["shape"], array_description["attributes"]) == ([10, 6], {"units": "m"})
    assert array_description["size"] > 240


def test_arrays_are_copied_from_and_to_objects(bucket, tmp_path):
    np.savez(tmp_path / "a.npz", x=ARRAY, y=ARRAY[0], z=ARRAY * 3)
    plait.copy(tmp_path / "a.npz", f"{bucket}/a.zarr", codec="gzip")
    plait.copy(f"{bucket}/a.zarr", f"{bucket}/b.zarr", chunks=(2, 2), variable=["x", "z"])
    plait.copy(f"{bucket}/b.zarr", tmp_path / "c.zarr")
    assert [info.name for info in plait.arrays_in(tmp_path / "c.zarr")] == ["x", "z"]
    np.testing.assert_array_equal(plait.open(f"{tmp_path}/c.zarr::z").read(), ARRAY * 3)
    plait.copy(tmp_path / "a.npz", f"{bucket}/b.zarr")  # adds arrays to the hierarchy and replaces others
    assert [info.name for info in plait.arrays_in(f"{bucket}/b.zarr")] == ["x", "y", "z"]
    np.testing.assert_array_equal(plait.open(f"{bucket}/b.zarr::y").read(), ARRAY[0])
    with pytest.raises(plait.ArgumentError, match="is the source itself"):
        plait.copy(f"{bucket}/b.zarr::x", f"{bucket}/b.zarr::/x")
    assert not [path for path in os.listdir() if "zarr" in path]


@pytest.mark.parametrize("existing", [False, True])
def test_failing_copies_remove_added_arrays(bucket, tmp_path, existing):
    url = f"{bucket}/a.zarr"
    if existing:
        write(f"{url}::/old/one")
    before = {name: (bucket / "a.zarr" / name).read_bytes() for name in (bucket / "a.zarr").names()}
    with plait.open(f"{tmp_path}/s.zarr::/g/x", "w", shape=(4,), dtype="i4", group_attributes={"": {"a": 1}}) as file:
        file.write(np.arange(4, dtype="i4"))
    for name in ("g/deep/y", "old/z"):
        write(f"{tmp_path}/s.zarr::/{name}")

    def stop(_done, _total):
        if "a.zarr/g/deep/y/zarr.json" in bucket.names():
            raise KeyError

    with pytest.raises(KeyError):
        plait.copy(tmp_path / "s.zarr", url, progress=stop)
    assert {name: (bucket / "a.zarr" / name).read_bytes() for name in (bucket / "a.zarr").names()} == before


def test_failing_copies_leave_the_array_of_another_program(bucket, tmp_path):
    for name in ("a", "b"):
        write(f"{tmp_path}/s.zarr::/{name}")
    write(f"{bucket}/other.zarr")
    other = (bucket / "other.zarr/zarr.json").read_bytes()

    def put_b_first(_done, _total):
        if "n.zarr/a/zarr.json" in bucket.names():
            (bucket / "n.zarr/b/zarr.json").write_bytes(other)

    with pytest.raises(plait.Error, match="another program has put"):
        plait.copy(tmp_path / "s.zarr", f"{bucket}/n.zarr", progress=put_b_first)
    assert (bucket / "n.zarr/b/zarr.json").read_bytes() == other
    assert "n.zarr/a/zarr.json" not in bucket.names()


@pytest.mark.parametrize("target", ["h.zarr::{variable}", "h.zarr::/a", "h.zarr"])
def test_a_hierarchy_is_not_copied_onto_itself(bucket, target):
    write(f"{bucket}/h.zarr::/a")
    with pytest.raises(plait.ArgumentError, match="name another target"):
        plait.copy(f"{bucket}/h.zarr", f"{bucket}/{target}", chunks=(1, 1))
    np.testing.assert_array_equal(plait.open(f"{bucket}/h.zarr::/a").read(), ARRAY)


def test_arrays_of_one_new_hierarchy_do_not_remove_each_other(bucket):
    first = plait.open(f"{bucket}/g.zarr::/a", "w", shape=ARRAY.shape, dtype=ARRAY.dtype)
    second = plait.open(f"{bucket}/g.zarr::/b", "w", shape=(2,), dtype="i4")
    first.write(ARRAY)
    first.close()
    second.write(np.zeros(2, "i4"))
    with pytest.raises(KeyError), second:
        raise KeyError
    np.testing.assert_array_equal(plait.open(f"{bucket}/g.zarr::/a").read(), ARRAY)


def test_arrays_are_joined(bucket):
    for number in range(3):
        write(f"{bucket}/{number}.zarr", ARRAY + number, dimension_names=["time", "x"])
    with plait.concat([f"{bucket}/{number}.zarr" for number in range(3)], "time") as joined:
        np.testing.assert_array_equal(joined.read(), np.concatenate([ARRAY, ARRAY + 1, ARRAY + 2]))


def test_zarr_arrays_need_no_suffix(bucket):
    write(f"zarr:{bucket}/plain")
    for url in (f"{bucket}/plain", f"{bucket}/plain/", f"zarr:{bucket}/plain"):
        np.testing.assert_array_equal(plait.open(url).read(), ARRAY)
    write(f"{bucket}/other", format="zarr")
    np.testing.assert_array_equal(plait.open(f"{bucket}/other", format="zarr").read(), ARRAY)
    write(f"zarr:{bucket}/groups::/g/a")
    np.testing.assert_array_equal(plait.open(f"{bucket}/groups::/g/a").read(), ARRAY)


@pytest.mark.parametrize("name", ["a.npy", "a.h5::/x", "a.nc", "a.npz", "a.safetensors", "a.gz"])
@pytest.mark.parametrize("mode", ["r", "w"])
def test_other_formats_are_errors(bucket, name, mode):
    url = f"{bucket}/{name}"
    with pytest.raises(plait.ArgumentError) as raised:
        plait.open(url, mode, **({"shape": 3, "dtype": "i4"} if mode == "w" else {}))
    assert str(raised.value).startswith(f"{url}: the name is that of ")
    assert "in object stores Plait reads and writes only Zarr; give a name that ends with .zarr" in str(raised.value)
    assert bucket.names() == []


def test_missing_objects_are_errors(bucket):
    write(f"{bucket}/a.zarr::/x")
    with pytest.raises(FileNotFoundError) as raised:
        plait.open(f"{bucket}/a.zarr::/y")
    assert f"{bucket}/a.zarr has no array or group of this name" in str(raised.value)
    for url in (f"{bucket}/b.zarr", f"{bucket}/b", f"{bucket}/b.zarr::/y"):
        with pytest.raises(FileNotFoundError) as raised:
            plait.open(url)
        assert "there is no Zarr array or group at" in str(raised.value)
        assert "objects in memory exist only in the process that has written them" in str(raised.value)
    with pytest.raises(FileNotFoundError):
        plait.arrays_in(f"{bucket}/b.zarr")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory://", "the name has no bucket"),
        ("memory:///a.zarr", "the name has no bucket"),
        ("memory://bucket", "the name has no key after the bucket"),
        ("memory://bucket//a.zarr", '"" is no part of the key'),
        ("memory://bucket/../a.zarr", '".." is no part of the key'),
        (
            "abfs://bucket/a.zarr",
            "has no object store for abfs://; the schemes that it knows: memory, s3, gs, az, http and https; ",
        ),
        ("zarr:abfs://bucket/a", "has no object store for abfs://"),
        ("MEMORY://bucket/a.zarr", "has no object store for MEMORY://"),
    ],
)
def test_invalid_urls_are_errors(url, message):
    with pytest.raises(plait.ArgumentError) as raised:
        plait.open(url)
    assert message in str(raised.value)
    for call in (plait.arrays_in, plait.groups_in, lambda name: plait.copy(name, "never.npy")):
        with pytest.raises(plait.ArgumentError) as raised:
            call(url)
        assert message in str(raised.value)


@pytest.mark.parametrize("mode", ["r", "w"])
def test_urls_given_as_paths_are_errors(mode):
    with pytest.raises(plait.ArgumentError) as raised:
        plait.open(Path("memory://bucket/a.zarr"), mode, **({"shape": 3, "dtype": "i4"} if mode == "w" else {}))
    assert "; for an object store write memory://BUCKET/KEY.zarr, as a text and not as a path" in str(raised.value)


def test_memory_urls_differ_from_arrays_of_the_memory_driver(bucket):
    write("memory:urls", ARRAY)
    write("memory:/urls/run/a", ARRAY * 2)
    with pytest.raises(FileNotFoundError):
        plait.open(f"{bucket}/a")
    np.testing.assert_array_equal(plait.open("memory:urls").read(), ARRAY)
    np.testing.assert_array_equal(plait.open("memory:/urls/run/a").read(), ARRAY * 2)


def test_files_may_have_names_similar_to_urls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("./memory:a.npy", "./memory:/b.npy", "12:30.npy", "data.zarr::/memory:/x"):
        os.makedirs("memory:", exist_ok=True)
        write(name)
        np.testing.assert_array_equal(plait.open(name).read(), ARRAY)
    assert sorted(os.listdir()) == ["12:30.npy", "data.zarr", "memory:", "memory:a.npy"]


def test_a_forked_child_starts_without_objects(bucket):
    url = f"{bucket}/a.zarr"
    write(url)

    def child():
        with pytest.raises(FileNotFoundError):
            plait.open(url)
        write(url, ARRAY * 2)
        np.testing.assert_array_equal(plait.open(url).read(), ARRAY * 2)

    run_in_child(child)
    np.testing.assert_array_equal(plait.open(url).read(), ARRAY)
