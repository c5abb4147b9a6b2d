"""Elements of every type, and the exchange of .npy files with NumPy."""

import numpy as np
import pytest
from brute_force import make_distinct_array

import plait

STRUCTURED = np.dtype([("x", "<f8"), ("y", ">i2"), ("name", "S5"), ("inner", [("a", "u1"), ("b", "<c8", (2, 3))])])
ALIGNED = np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True)
DTYPES = [
    *("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "F", "D", "G"),
    *(">i2", ">u4", ">i8", ">f4", ">f8", ">c16", ">f16", "<f8", "=i4", "|u1"),
    *("S1", "S7", "U1", "U3", ">U2", "V1", "V13", "M8[ns]", "m8[D]", "M8[25s]", ">M8[us]"),
    STRUCTURED,
    ALIGNED,
    np.float64,
    float,
    int,
    complex,
    bool,
]


def make_array(dtype):
    type_ = np.dtype(dtype)
    if type_.kind == "f" and type_.itemsize == 16:
        return make_distinct_array((4, 5), "f8").astype(type_)  # the padding of long doubles is undefined
    return make_distinct_array((4, 5), type_)


def assert_same(actual, expected):
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if actual.dtype.names is None:
        assert actual.tobytes() == expected.tobytes()
    else:  # bytes between fields are undefined
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.sampled(43)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_are_read_and_written(tmp_path, dtype, order):
    array = make_array(dtype)
    layout = plait.Layout((4, 5), "(cyclic, block) onto (2, 2)")
    for suffix in (".npy", ".bin"):
        by_numpy, by_plait = tmp_path / f"numpy{suffix}", tmp_path / f"plait{suffix}"
        if suffix == ".npy":
            np.save(by_numpy, np.array(array, order=order))
            options = {}
        else:
            by_numpy.write_bytes(array.tobytes(order))
            options = {"shape": (4, 5), "dtype": dtype, "order": order}
        with plait.open(by_numpy, **options) as file:
            assert file.dtype == array.dtype
            assert file.shape == (4, 5)
            assert file.order == order
            assert_same(file.read(), array)
            parts = file.read(layout)
        with plait.open(by_plait, "w", shape=(4, 5), dtype=dtype, order=order) as file:
            assert file.dtype == array.dtype
            file.write(parts, layout)
        if suffix == ".npy":
            actual = np.load(by_plait)
            assert_same(actual, array)
            assert actual.flags.f_contiguous if order == "F" else actual.flags.c_contiguous
            assert by_plait.stat().st_size % 64 == array.nbytes % 64
        else:
            assert by_plait.read_bytes() == by_numpy.read_bytes()


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (3, 0, 2), (1, 1, 1), (2,) * 10], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_small_shapes_are_read_and_written(tmp_path, shape, order):
    array = make_distinct_array(shape)
    for suffix in (".npy", ".bin"):
        path = tmp_path / f"a{suffix}"
        with plait.open(path, "w", shape=shape, dtype="f8", order=order) as file:
            file.write(array)
        with plait.open(path, **({} if suffix == ".npy" else {"shape": shape, "dtype": "f8", "order": order})) as file:
            assert_same(file.read(), array)
            if shape:
                dist = "(" + ", ".join(["cyclic"] + ["*"] * (len(shape) - 1)) + ")"
                parts = file.read(plait.Layout(shape, dist, grid=(3,)))
                assert [part.shape[0] for part in parts] == [len(range(rank, shape[0], 3)) for rank in range(3)]
        if suffix == ".npy":
            assert_same(np.load(path), array)


def test_shapes_may_have_the_forms_of_numpy(tmp_path):
    with plait.open(tmp_path / "a.bin", "w", shape=6, dtype="f8") as file:
        assert file.shape == (6,)
    for shape in ([2, 3], np.array([2, 3]), (np.int32(2), 3), 6, np.int64(6)):
        with plait.open(tmp_path / "a.bin", shape=shape, dtype="f8") as file:
            assert int(np.prod(file.shape)) == 6


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_all_versions_of_npy_are_read(tmp_path, version):
    array = make_distinct_array((4, 5))
    with open(tmp_path / "a.npy", "wb") as out:
        np.lib.format.write_array(out, array, version=version)
    with plait.open(tmp_path / "a.npy") as file:
        assert_same(file.read(), array)


def test_a_memory_map_of_numpy_shares_the_file(tmp_path):
    mapped = np.lib.format.open_memmap(tmp_path / "a.npy", "w+", dtype="i4", shape=(6, 7), fortran_order=True)
    mapped[:] = make_distinct_array((6, 7), "i4")
    mapped.flush()
    with plait.open(tmp_path / "a.npy", "r+") as file:
        assert file.order == "F"
        assert_same(file.read(), make_distinct_array((6, 7), "i4"))
        file.write(np.int32([9, 8]), region=np.s_[2:4, 0])
    np.testing.assert_array_equal(mapped[2:4, 0], [9, 8])


def test_a_shape_and_dtype_that_match_the_header_are_fine(tmp_path):
    np.save(tmp_path / "a.npy", make_distinct_array((4, 5), "i2"))
    with plait.open(tmp_path / "a.npy", shape=(4, 5), dtype=np.int16) as file:
        assert file.dtype == "i2"
    for options, message in [
        ({"shape": (5, 4)}, "4x5"),
        ({"dtype": "u2"}, "i2"),
        ({"dtype": ">i2"}, "i2"),
        ({"dtype": "i4"}, "i2"),
    ]:
        with pytest.raises(plait.ArgumentError, match=message):
            plait.open(tmp_path / "a.npy", **options)


def test_a_structure_in_another_spelling_matches_the_header(tmp_path):
    array = make_array(STRUCTURED)
    np.save(tmp_path / "a.npy", array)
    with plait.open(tmp_path / "a.npy", dtype=STRUCTURED) as file:
        assert_same(file.read(), array)


def test_elements_may_be_bytes_without_a_type(tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(range(60)))
    with plait.open(tmp_path / "a.bin", shape=(4,), dtype="V15") as file:
        assert file.read()[3].tobytes() == bytes(range(45, 60))


@pytest.mark.parametrize("dtype", [object, [("a", object)], "S0", "U0", "V0", []], ids=str)
@pytest.mark.parametrize("name", ["a.npy", "a.bin"])
def test_types_without_a_fixed_size_are_rejected(tmp_path, dtype, name):
    with pytest.raises(plait.ArgumentError):
        plait.open(tmp_path / name, "w", shape=(3,), dtype=dtype)
    assert not list(tmp_path.iterdir())


def test_objects_in_a_npy_file_are_rejected(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}, []], object))
    with pytest.raises(plait.ArgumentError, match="Python objects"):
        plait.open(tmp_path / "a.npy")
