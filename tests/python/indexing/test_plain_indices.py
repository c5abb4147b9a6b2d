"""Indices that the core reads directly, without a plan, compared with NumPy on the same array in memory."""

import os
import threading

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plait
from plait import _core

SHAPE = (13, 1, 17, 9)
CHUNKS = (4, 1, 5, 3)
DTYPES = ["f8", "u1", ">i2", "c16", "f2", "S3", "U2", "?"]


def make_distinct_array(shape, dtype="f8"):
    """Return an array of different elements, as far as the type has them."""
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def write_array(folder, array, kind):
    """Write the array by the library of a format, and return its name."""
    path = folder / f"a.{kind}"
    if kind == "npy":
        np.save(path, array)
    elif kind == "fortran.npy":
        np.save(path, np.asfortranarray(array))
    elif kind.startswith("zarr"):
        options = {"zarr": {}, "zarr-plain": {"codec": "none"}, "zarr-shards": {"shards": [2 * n for n in CHUNKS]}}
        order = "F" if kind == "zarr-plain" else "C"
        path = folder / f"a-{kind}.zarr"
        properties = {"chunks": CHUNKS, "codec": "gzip", "order": order, **options[kind]}
        with plait.open(path, "w", shape=array.shape, dtype=array.dtype, durable=False, **properties) as file:
            file.write(array)
    else:
        options = {"h5": {}, "plain.h5": {"chunks": CHUNKS}, "gzip.h5": {"chunks": CHUNKS, "compression": "gzip"}}
        with h5py.File(path, "w") as file:
            file.create_dataset("a", data=array, **options[kind])
        return f"{path}::/a"
    return str(path)


def basic_indices(size):
    """Draw an integer or a slice with a positive stride that selects something."""
    number = st.integers(-size, size - 1)
    bound = st.none() | st.integers(-size - 2, size + 2)
    slices = st.builds(slice, bound, bound, st.none() | st.integers(1, 5))
    return number | number.map(np.int32) | slices.filter(lambda item: len(range(*item.indices(size))) > 0)


@st.composite
def indices(draw, shape):
    """Draw an index of plain items, with an ellipsis anywhere."""
    items = [draw(basic_indices(size)) for size in shape]
    first = draw(st.integers(0, len(shape)))
    last = draw(st.integers(first, len(shape)))
    if draw(st.booleans()):
        items[first:last] = [Ellipsis]
    else:
        del items[last:]
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


def check_equal(actual, expected):
    assert type(actual) is type(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "kind", ["npy", "fortran.npy", "h5", "plain.h5", "gzip.h5", "zarr", "zarr-plain", "zarr-shards"]
)
def test_every_plain_index_is_read_without_planning(tmp_path, kind):
    whole = make_distinct_array(SHAPE)
    name = write_array(tmp_path, whole, kind)

    @given(indices(SHAPE))
    @settings(max_examples=150)
    def check(index):
        actual = _core.read_plain(file._core, index, whole.dtype)
        check_equal(actual, whole[index])
        assert isinstance(actual, np.generic) or actual.flags.f_contiguous or file.order == "C"
        check_equal(file[index], whole[index])

    with plait.open(name) as file:
        check()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_equals_numpy(tmp_path, dtype):
    whole = make_distinct_array((5, 40), dtype)
    np.save(tmp_path / "a.npy", whole)
    with plait.open(tmp_path / "a.npy") as file:
        for index in (np.s_[2, 3:30:2], np.s_[1:, 4], np.s_[4, 39], np.s_[...], np.s_[0, ..., 0]):
            for _ in range(2):
                check_equal(file[index], whole[index])
        check_equal(file.read(), whole)


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ns]", [("a", "i4"), ("b", "f8")], "V3"])
def test_types_without_the_buffer_protocol_equal_numpy(tmp_path, dtype):
    whole = np.zeros((5, 40), dtype)
    whole.view("u1")[...] = np.arange(whole.nbytes, dtype="u1").reshape(whole.view("u1").shape)
    with plait.open(tmp_path / "a.npy", "w", shape=whole.shape, dtype=dtype, durable=False) as file:
        file.write(whole)
    with plait.open(tmp_path / "a.npy") as file:
        assert file._buffer_dtype is None
        for index in (np.s_[2, 3:30:2], np.s_[4, 39], np.s_[...]):
            for _ in range(2):
                check_equal(file[index], whole[index])


@pytest.mark.parametrize("columns", [500, 511, 512, 513, 520, 700, 6000])
def test_strides_with_gaps_of_every_size_equal_numpy(tmp_path, columns):
    """Gaps of up to 4 KiB are read, too; longer gaps are not, and a request has at most 96 KiB."""
    whole = make_distinct_array((40, columns))
    np.save(tmp_path / "a.npy", whole)
    with plait.open(tmp_path / "a.npy") as file:
        for index in (np.s_[:, 0], np.s_[::3, -1], np.s_[:, 1:3], np.s_[::2, ::2], np.s_[3:, ::511], np.s_[7, ::5]):
            check_equal(_core.read_plain(file._core, index, whole.dtype), whole[index])


def test_large_and_scattered_regions_are_planned(tmp_path):
    whole = make_distinct_array((1100, 1024), "f4")
    np.save(tmp_path / "a.npy", whole)
    with plait.open(tmp_path / "a.npy") as file:
        assert _core.read_plain(file._core, np.s_[:256], whole.dtype) is not None
        for index in (np.s_[:257], np.s_[:1025, 3], ...):
            assert _core.read_plain(file._core, index, whole.dtype) is None
            check_equal(file[index], whole[index])
        check_equal(file[:, 3], whole[:, 3])
        check_equal(file.read(), whole)
    for options in ({"strategy": "two-phase"}, {"memory": 1 << 16}):
        with plait.open(tmp_path / "a.npy", **options) as file:
            assert _core.read_plain(file._core, np.s_[0], whole.dtype) is None
            check_equal(file[0], whole[0])


@pytest.mark.parametrize("index", [None, np.s_[::-1], np.s_[2:2], [1], "a", 1.5, 4, -5, (0, 0, 0),
                                   (..., ...), slice(0, 1, 0), slice("a"), np.ones((4, 6), "?"), 10**30])  # fmt: skip
def test_other_indices_are_left_to_python(tmp_path, index):
    whole = make_distinct_array((4, 6))
    np.save(tmp_path / "a.npy", whole)
    with plait.open(tmp_path / "a.npy") as file:
        assert _core.read_plain(file._core, index, whole.dtype) is None
        assert file[3, 5] == 23
        try:
            expected = whole[index]
        except (IndexError, TypeError, ValueError):
            with pytest.raises(plait.ArgumentError, match=r"^index"):
                file[index]
        else:
            check_equal(file[index], expected)


@pytest.mark.parametrize("index", [True, np.True_, (0, np.False_)])
def test_booleans_are_not_integers(tmp_path, index):
    np.save(tmp_path / "a.npy", make_distinct_array((4, 6)))
    with plait.open(tmp_path / "a.npy") as file:
        assert file[1, 1] == 7
        with pytest.raises(plait.ArgumentError, match=r"^index"):
            file[index]


def test_interrupts_during_a_conversion_are_not_lost(tmp_path):
    class Interrupted:
        def __index__(self):
            raise KeyboardInterrupt

    np.save(tmp_path / "a.npy", make_distinct_array((4, 6)))
    with plait.open(tmp_path / "a.npy") as file:
        assert file[1, 1] == 7
        for index in (Interrupted(), np.s_[Interrupted() :]):
            with pytest.raises(KeyboardInterrupt):
                _core.read_plain(file._core, index, np.dtype("f8"))


def test_renamed_fields_stay_in_their_array(tmp_path):
    whole = np.array([(1, 2.0), (3, 4.0)], [("x", "i4"), ("y", "f8")])
    np.save(tmp_path / "a.npy", whole)
    plait.open(tmp_path / "a.npy").read().dtype.names = ("y", "x")
    assert plait.open(tmp_path / "a.npy").dtype.names == ("x", "y")


def test_errors_equal_those_of_read(tmp_path):
    np.save(tmp_path / "a.npy", make_distinct_array((100, 100)))
    with plait.open(tmp_path / "a.npy") as file:
        assert file[0, 0] == 0
        os.truncate(tmp_path / "a.npy", 40000)
        with pytest.raises(plait.StoreError, match="the file ends there") as whole:
            file.read()
        with pytest.raises(plait.StoreError, match="the file ends there"):
            file[99]
        assert "a.npy" in str(whole.value)
        assert file[0, 99] == 99
    with pytest.raises(plait.ArgumentError, match="is closed"):
        file[0]
    with pytest.raises(plait.ArgumentError, match="is closed"):
        file.read()


def test_damaged_chunks_are_errors(tmp_path):
    name = write_array(tmp_path, make_distinct_array(SHAPE), "gzip.h5")
    path = tmp_path / "a.gzip.h5"
    with h5py.File(path) as file:
        offset = file["a"].id.get_chunk_info(0).byte_offset
    with plait.open(name) as file:
        assert file[-1, 0, -1, -1] == make_distinct_array(SHAPE).size - 1
        data = bytearray(path.read_bytes())
        data[offset : offset + 8] = bytes(8)
        path.write_bytes(data)
        with pytest.raises(plait.StoreError, match="chunk"):
            file[0, 0, 0, 0]


def test_writes_are_visible_at_once(tmp_path):
    whole = make_distinct_array((20, 30))
    np.save(tmp_path / "a.npy", whole)
    with plait.open(tmp_path / "a.npy", "r+") as file:
        for number in range(5):
            assert file[3, 4] == whole[3, 4]
            file[3, 2:9] = whole[3, 2:9] = -number
            check_equal(file[3], whole[3])
            request = file.iwrite(whole + number)
            check_equal(file[1:3, ::2], whole[1:3, ::2] + number)
            request.wait()
            file.write(whole)


def test_an_array_can_be_indexed_while_it_grows(tmp_path):
    whole = make_distinct_array((6, 4))
    with plait.open(tmp_path / "a.zarr", "w", shape=(0, 4), dtype="f8", chunks=(2, 4), durable=False) as file:
        for row in range(6):
            file.append(whole[row : row + 1])
            check_equal(file[row], whole[row])
            check_equal(file.read(), whole[: row + 1])


def test_threads_read_at_once(tmp_path):
    whole = make_distinct_array((200, 50))
    np.save(tmp_path / "a.npy", whole)
    mismatches = []

    def work(first):
        for row in range(first, 200, 4):
            if not np.array_equal(file[row, 3:40], whole[row, 3:40]) or file[row, 7] != whole[row, 7]:
                mismatches.append(row)

    with plait.open(tmp_path / "a.npy") as file:
        threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert mismatches == []


def test_the_times_of_a_plain_read_are_recorded(tmp_path):
    np.save(tmp_path / "a.npy", make_distinct_array((200, 50)))
    with plait.open(tmp_path / "a.npy") as file:
        file.read()
        times = file.last_times()
    assert 0 < times["io"] == times["total"] < 1
    assert times["copy"] == times["wait"] == 0
