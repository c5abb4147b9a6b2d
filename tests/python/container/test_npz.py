"""NumPy's archives: Plait reads archives of numpy.savez, and numpy.load reads archives of Plait."""

import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import plait

ARRAYS = {
    "ramp": np.arange(60 * 70, dtype="<i4").reshape(60, 70),
    "turned": np.asfortranarray(np.arange(24, dtype=">f8").reshape(2, 3, 4)),
    "flag": np.array([True, False, True]),
    "one": np.array(7.5),
    "none": np.empty((0, 3), "f4"),
    "pairs": np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "<i2"), ("b", "<f4")]),
    "größe/länge": np.arange(5, dtype="u1"),
}


def open_error_text(kind: type[plait.Error], path: object, mode: str = "r", **options: object) -> str:
    with pytest.raises(kind) as raised:
        plait.open(path, mode, **options)
    return str(raised.value)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_plait_reads_archives_of_numpy(tmp_path, save):
    save(tmp_path / "a.npz", **ARRAYS)
    infos = plait.arrays_in(tmp_path / "a.npz")
    assert [info.name for info in infos] == list(ARRAYS)
    for info, array in zip(infos, ARRAYS.values(), strict=True):
        assert (info.shape, info.dtype, info.error) == (array.shape, array.dtype, "")
        assert info.storage == ("stored" if save is np.savez else "deflated")
    for name, array in ARRAYS.items():
        with plait.open(f"{tmp_path}/a.npz::{name}") as file:
            assert (file.shape, file.dtype) == (array.shape, array.dtype)
            assert file.order == ("F" if name == "turned" else "C")
            np.testing.assert_array_equal(file.read(), array)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_layouts_and_regions_are_read(tmp_path, save):
    array = np.random.default_rng(3).integers(0, 99, (300, 2000))
    save(tmp_path / "a.npz", first=np.arange(5), second=array)
    layout = plait.Layout(array.shape, "(cyclic(7), block)", grid=(2, 2))
    with plait.open(f"{tmp_path}/a.npz::second") as file:
        for rank, part in enumerate(file.read(layout)):
            np.testing.assert_array_equal(part, array[np.ix_(*layout.indices(rank))])
        np.testing.assert_array_equal(file.read(region=np.s_[3:250:5, 69]), array[3:250:5, 69])


def test_the_only_array_needs_no_name(tmp_path):
    np.savez(tmp_path / "a.npz", np.arange(4))
    assert plait.open(tmp_path / "a.npz").read().tolist() == [0, 1, 2, 3]
    assert plait.open(f"{tmp_path}/a.npz::arr_0").read().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">i2", "|b1", "<c16", "|S3"])
def test_numpy_reads_archives_of_plait(tmp_path, order, dtype):
    array = np.arange(35).reshape(5, 7).astype(dtype)
    path = tmp_path / "a.npz"
    with plait.open(f"{path}::größe", "w", shape=array.shape, dtype=dtype, order=order) as file:
        file.write(array)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["größe.npy"]
    with np.load(path) as archive:
        actual = archive["größe"]
        assert actual.dtype == array.dtype
        assert actual.flags.f_contiguous == (order == "F")
        np.testing.assert_array_equal(actual, array)
    (info,) = plait.arrays_in(path)
    assert info.offset % 64 == 0


def test_several_arrays_are_written(tmp_path):
    path = tmp_path / "a.npz"
    descriptions = {
        name: (array.shape, array.dtype, "F" if name == "turned" else "C") for name, array in ARRAYS.items()
    }
    with plait.open(path, "w", arrays=descriptions) as file:
        for name, array in reversed(ARRAYS.items()):
            file.write(array, variable=name)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    with np.load(path) as archive:
        assert archive.files == list(ARRAYS)
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(archive[name], array)


def test_elements_that_are_not_written_are_zero(tmp_path):
    path = tmp_path / "a.npz"
    with plait.open(path, "w", arrays={"a": (3, "i4"), "b": ((2, 2), "f4")}) as file:
        file.write(np.ones((2, 2), "f4"), variable="b")
    with np.load(path) as archive:
        assert archive["a"].tolist() == [0, 0, 0]
        assert archive["b"].tolist() == [[1, 1], [1, 1]]


def test_invalid_sets_of_arrays_are_errors(tmp_path):
    path = tmp_path / "a.npz"
    text = open_error_text(plait.ArgumentError, f"{path}::x", "w", arrays={"a": (3, "i4")})
    assert "several arrays were given, but the name is that of one" in text
    assert "names no array" in open_error_text(plait.ArgumentError, path, "w", arrays={})
    assert "give (shape, dtype)" in open_error_text(plait.ArgumentError, path, "w", arrays={"a": 3})
    assert "leave either out" in open_error_text(plait.ArgumentError, path, "w", arrays={"a": (3, "i4")}, shape=3)
    assert 'use mode "w"' in open_error_text(plait.ArgumentError, path, arrays={"a": (3, "i4")})
    assert "a file of this name holds one" in open_error_text(
        plait.ArgumentError, tmp_path / "a.npy", "w", arrays={"a": (3, "i4")}
    )
    file = plait.open(path, "w", arrays={"a": (3, "i4")})
    with pytest.raises(plait.ArgumentError, match='the array "b" is none of the 1 arrays'):
        file.write(np.ones(3, "i4"), variable="b")
    file.write(np.ones(3, "i4"), variable="a")
    file.close()
    assert np.load(path)["a"].tolist() == [1, 1, 1]


def test_missing_array_names_are_errors(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, **{f"a{i}": np.arange(i) for i in range(20)})
    text = open_error_text(plait.ArgumentError, path)
    assert text.startswith(f"{path} holds 20 arrays: a0, a1, ")
    assert text.endswith(f"a11 and 8 more; name one, as in {path}::a0")
    assert f'{path} contains no array "b"; it contains: a0, a1' in open_error_text(plait.ArgumentError, f"{path}::b")
    assert "holds an array 3, but the shape 4 was given" in open_error_text(plait.ArgumentError, f"{path}::a3", shape=4)
    np.savez(path)
    assert "contains no array" in open_error_text(plait.ArgumentError, path)
    with pytest.raises(FileNotFoundError):
        plait.open(f"{tmp_path}/missing.npz::a")


def test_changes_in_place_are_rejected(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.arange(3))
    assert "check sums" in open_error_text(plait.ArgumentError, f"{tmp_path}/a.npz::a", "r+")


def test_other_files_in_an_archive_are_listed_with_an_error(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, a=np.arange(3))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("notes.txt", "no array")
        archive.writestr("b.npy", b"no array either")
        archive.writestr("c.npy", (tmp_path / "a.npz").read_bytes(), zipfile.ZIP_BZIP2)
        archive.comment = b"made by hand"
    a, b, c = plait.arrays_in(path)
    assert (a.name, a.error) == ("a", "")
    assert "is not a .npy file" in b.error or ".npy" in b.error
    assert "packed by the method 12" in c.error
    assert plait.open(f"{path}::a").read().tolist() == [0, 1, 2]
    assert "packed by the method 12" in open_error_text(plait.ArgumentError, f"{path}::c")
    assert open_error_text(plait.StoreError, f"{path}::b")


def make_archive(path: Path, array: np.ndarray, packed: bool = False) -> bytearray:
    (np.savez_compressed if packed else np.savez)(path, a=array)
    return bytearray(path.read_bytes())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("packed", [False, True])
def test_every_truncation_is_an_error(tmp_path, packed):
    path = tmp_path / "a.npz"
    intact = make_archive(path, np.arange(40), packed)
    for length in range(len(intact)):
        path.write_bytes(intact[:length])
        text = open_error_text(plait.StoreError, path)
        assert str(path) in text
        assert "at byte" in text


def test_changed_bytes_are_an_error_or_change_no_element(tmp_path):
    path = tmp_path / "a.npz"
    array = np.arange(40)
    intact = make_archive(path, array, packed=True)
    generator = np.random.default_rng(4)
    for _ in range(300):
        changed = intact.copy()
        for position in generator.integers(0, len(intact), generator.integers(1, 4)):
            changed[position] = generator.integers(0, 256)
        path.write_bytes(changed)
        actual, message = None, ""
        try:
            with plait.open(path) as file:
                actual = file.read()
        except plait.Error as error:
            message = str(error)
        if actual is None:
            assert str(path) in message
        else:
            np.testing.assert_array_equal(actual, array)


def test_wrong_lengths_are_errors(tmp_path):
    path = tmp_path / "a.npz"
    intact = make_archive(path, np.arange(40))
    directory = intact.rindex(b"PK\x01\x02")
    end = intact.rindex(b"PK\x05\x06")
    # Offsets of fields in the entry of the directory, and in the record at its end.
    for offset, form, number, message in (
        (directory + 20, "<I", 2**31, "2147483648 bytes"),
        (directory + 42, "<I", 2**31, "after byte 2147483648"),
        (end + 10, "<H", 9, "9 entries"),
        (end + 12, "<I", 2**31, "2147483648 bytes"),
        (end + 16, "<I", 2**31, "2147483648"),
    ):
        changed = intact.copy()
        struct.pack_into(form, changed, offset, number)
        path.write_bytes(changed)
        assert message in open_error_text(plait.StoreError, path)


def test_a_local_header_that_reaches_into_the_next_entry_is_an_error(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, a=np.arange(4), b=np.arange(4) + 100)
    changed = bytearray(path.read_bytes())
    (extra,) = struct.unpack_from("<H", changed, 28)
    struct.pack_into("<H", changed, 28, extra + 16)
    path.write_bytes(changed)
    with pytest.raises(
        plait.StoreError, match=r'"a\.npy" should have \d+ bytes, but the next entry begins at byte \d+'
    ):
        plait.open(f"{path}::a")
    with plait.open(f"{path}::b") as file:
        np.testing.assert_array_equal(file.read(), np.arange(4) + 100)


def test_content_that_contradicts_the_directory_is_an_error(tmp_path):
    path = tmp_path / "a.npz"
    intact = make_archive(path, np.zeros(100_000), packed=True)
    directory = intact.rindex(b"PK\x01\x02")
    changed = intact.copy()
    struct.pack_into("<I", changed, directory + 24, 1000)
    path.write_bytes(changed)
    assert "more than the 1000 bytes that the file says" in open_error_text(plait.StoreError, path)
    changed = intact.copy()
    struct.pack_into("<I", changed, directory + 16, zlib.crc32(b"other"))
    path.write_bytes(changed)
    assert "has another check sum" in open_error_text(plait.StoreError, path)


def test_two_arrays_with_the_same_name_are_an_error(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"")
        archive.writestr("b.npy", b"")
    path.write_bytes(path.read_bytes().replace(b"b.npy", b"a.npy"))
    assert 'two entries of the name "a.npy"' in open_error_text(plait.StoreError, path)


@pytest.mark.long
def test_arrays_of_more_than_4_gib_are_written_and_read(tmp_path):
    """Such sizes need the 64-bit extensions of ZIP; most of the file is a hole."""
    path = tmp_path / "a.npz"
    with plait.open(path, "w", arrays={"big": (5 << 30, "u1"), "small": (3, "i4")}) as file:
        file.write(np.arange(5, dtype="u1"), variable="big", region=np.s_[(5 << 30) - 5 :])
        file.write(np.arange(3, dtype="i4"), variable="small")
    with np.load(path) as archive:
        assert archive["small"].tolist() == [0, 1, 2]
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("big.npy").file_size > 5 << 30
    with plait.open(f"{path}::big") as file:
        assert file.read(region=np.s_[(5 << 30) - 6 :]).tolist() == [0, 0, 1, 2, 3, 4]
    assert plait.open(f"{path}::small").read().tolist() == [0, 1, 2]


def test_a_header_of_a_gibibyte_is_an_error(tmp_path):
    path = tmp_path / "a.npz"
    header = b"\x93NUMPY\x02\x00" + (1 << 30).to_bytes(4, "little") + bytes(1 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", header)
    assert "at most 67108864 are read" in open_error_text(plait.StoreError, path)
