"""Files indexed like arrays of NumPy, compared with NumPy on the same array in memory."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import plait
from plait._file.indexing import pieces

DTYPES = ["f8", "u1", ">i2", "c16", "S3", "M8[s]", [("a", "i4"), ("b", "f8")]]


def make_distinct_array(shape, dtype="f8"):
    """Return an array of different elements."""
    dtype = np.dtype(dtype)
    numbers = np.arange(int(np.prod(shape)), dtype="i8").reshape(shape)
    if dtype.fields:
        whole = np.empty(shape, dtype)
        for name in dtype.names:
            whole[name] = numbers
        return whole
    return numbers.astype(dtype)


def basic_indices(size):
    """Draw an index of a dimension, or a slice of it."""
    bound = st.none() | st.integers(-size - 2, size + 2)
    step = st.none() | st.integers(-4, 4).filter(bool)
    slices = st.builds(slice, bound, bound, step)
    return slices | st.integers(-size, size - 1) if size else slices


def index_lists(size, length):
    """Draw a list of indices of a dimension, or an array of two dimensions."""
    shape = st.sampled_from([(length,), (1,), (2, length)])
    return shape.flatmap(lambda dimensions: npst.arrays("i8", dimensions, elements=st.integers(-size, size - 1)))


@st.composite
def indices(draw, shape):
    """Draw an index of any kind that NumPy accepts: a mask, or up to two lists, among plain indices."""
    items = []
    dimensions = draw(st.integers(0, len(shape)))
    lists = draw(st.sampled_from([[], ["list"], ["list", "list"], ["mask"]]))
    length = draw(st.integers(1, 4))
    d = 0
    while d < dimensions:
        kind = lists.pop() if lists and draw(st.booleans()) else "plain"
        covered = draw(st.integers(1, dimensions - d)) if kind == "mask" else 1
        if kind == "mask":
            items.append(draw(npst.arrays("?", shape[d : d + covered])))
        elif kind == "list" and shape[d]:
            numbers = draw(index_lists(shape[d], length))
            items.append(numbers.tolist() if draw(st.booleans()) else numbers)
        else:
            items.append(draw(basic_indices(shape[d])))
        d += covered
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    if draw(st.booleans()):
        items.insert(len(items) if d < len(shape) else draw(st.integers(0, len(items))), Ellipsis)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


shapes = st.lists(st.sampled_from([0, 1, 2, 3, 5, 8]), min_size=0, max_size=4).map(tuple)


def check_equal(actual, expected):
    assert type(actual) is type(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.tobytes() == expected.tobytes()


@given(st.data())
@settings(max_examples=300)
def test_reading_equals_numpy(tmp_path, data):
    whole = make_distinct_array(data.draw(shapes), data.draw(st.sampled_from(DTYPES)))
    order = data.draw(st.sampled_from("CF"))
    index = data.draw(indices(whole.shape))
    (tmp_path / "a").write_bytes(whole.tobytes(order))
    with plait.open(tmp_path / "a", shape=whole.shape, dtype=whole.dtype, order=order) as file:
        for _ in range(2):  # the first index is planned in Python; the core parses the second
            check_equal(file[index], whole[index])


@given(st.data())
@settings(max_examples=250)
def test_writing_equals_numpy(tmp_path, data):
    dtype = data.draw(st.sampled_from(["f8", "f4", "i2", "c8"]))
    whole = make_distinct_array(data.draw(shapes), dtype)
    order = data.draw(st.sampled_from("CF"))
    index = data.draw(indices(whole.shape))
    (tmp_path / "a").write_bytes(whole.tobytes(order))
    selected = whole[index].shape
    # The value has the shape of the selection or broadcasts to it; other dtypes of the same kind are cast.
    shape = tuple(1 if data.draw(st.booleans()) else count for count in selected)
    value = -1 - np.arange(int(np.prod(shape))).reshape(shape).astype("i4" if dtype == "i2" else "f8")
    dropped = data.draw(st.integers(0, next((i for i, count in enumerate(shape) if count != 1), len(shape))))
    value = value.reshape(shape[dropped:]) if shape == () or data.draw(st.booleans()) else value[None]
    with plait.open(tmp_path / "a", "r+", shape=whole.shape, dtype=dtype, order=order) as file:
        file[index] = value
    value = value.reshape(value.shape[max(0, value.ndim - len(selected)) :])  # NumPy's masks accept no more dimensions
    whole[index] = value
    assert (tmp_path / "a").read_bytes() == whole.tobytes(order)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("limits", [(64, 16, 8), (1 << 12, 1, 1), (1, 1, 1), (256, 64, 1 << 20)])
@given(st.data())
@settings(max_examples=30)
def test_lists_divided_into_pieces_of_any_size_equal_numpy(tmp_path, order, limits, data):
    """Small limits make small arrays use the code paths of large ones."""
    whole = make_distinct_array((9, 11, 7))
    (tmp_path / "a").write_bytes(whole.tobytes(order))
    index = data.draw(indices(whole.shape))
    with pytest.MonkeyPatch.context() as patch:
        for name, limit in zip(("_MAX_REGION_BYTES", "_CHEAP_BYTES", "_MAX_GAP_BYTES"), limits, strict=True):
            patch.setattr(pieces, name, limit)
        with plait.open(tmp_path / "a", shape=whole.shape, dtype="f8", order=order) as file:
            check_equal(file[index], whole[index])


@given(st.data())
@settings(max_examples=150)
def test_indices_that_numpy_rejects_are_errors(tmp_path, data):
    whole = make_distinct_array((3, 4))
    np.save(tmp_path / "a.npy", whole)
    invalid = st.sampled_from(
        [
            3,
            -4,
            99,
            "a",
            1.5,
            np.float64(1),
            [0, 7],
            [-5],
            [True],
            np.ones((3, 3), "?"),
            [0.5],
            slice("a"),
            ["b"],
            object(),
        ]
    )
    items = data.draw(st.lists(invalid | basic_indices(3), min_size=1, max_size=4))
    index = tuple(items)
    try:
        expected = whole[index]
    except (IndexError, TypeError, ValueError):
        with plait.open(tmp_path / "a.npy") as file:
            for _ in range(2):
                with pytest.raises(plait.ArgumentError, match=r"^index"):
                    file[index]
                file[0, 0]
    else:
        with plait.open(tmp_path / "a.npy") as file:
            for _ in range(2):
                check_equal(file[index], expected)


def test_an_index_outside_is_an_index_error(tmp_path):
    np.save(tmp_path / "a.npy", make_distinct_array((3, 4)))
    with plait.open(tmp_path / "a.npy") as file:
        for index in (3, (0, -5), [0, 3], "x", 1.5):
            with pytest.raises(IndexError):
                file[index]


def test_files_have_the_properties_of_arrays(tmp_path):
    whole = make_distinct_array((3, 4, 5), "f4")
    np.save(tmp_path / "a.npy", whole)
    np.save(tmp_path / "one.npy", np.float32(2.5))
    with plait.open(tmp_path / "a.npy") as file:
        for name in ("shape", "dtype", "ndim", "size", "nbytes"):
            assert getattr(file, name) == getattr(whole, name)
        assert len(file) == 3
        assert bool(file) is True
        assert np.array_equal(np.asarray(file), whole)
        assert np.array(file, dtype="f8").dtype == np.float64
        assert np.array(file, copy=True).tobytes() == whole.tobytes()
        assert np.sum(file) == whole.sum()
        with pytest.raises(ValueError, match="leave out copy=False"):
            file.__array__(copy=False)
        with pytest.raises(TypeError, match=r"value in file\[...\]"):
            3 in file  # noqa: B015
    with plait.open(tmp_path / "one.npy") as file:
        assert type(file[()]) is np.float32
        assert file[...].shape == ()
        assert (file.ndim, file.size, file.nbytes) == (0, 1, 4)
        assert bool(file) is True
        with pytest.raises(TypeError, match="no length"):
            len(file)


def test_astype_returns_a_view_that_converts(tmp_path):
    whole = make_distinct_array((3, 4)) + 0.75
    np.save(tmp_path / "a.npy", whole)
    with plait.open(tmp_path / "a.npy") as file:
        view = file.astype("i2")
        assert (view.shape, view.dtype, view.ndim, view.size, view.nbytes) == ((3, 4), np.dtype("i2"), 2, 12, 24)
        for index in (np.s_[1:, ::-2], np.s_[1, 2], np.s_[[2, 0]], ...):
            check_equal(view[index], whole[index].astype("i2"))
        check_equal(np.asarray(view), whole.astype("i2"))
        check_equal(np.asarray(view, dtype="f4"), whole.astype("i2").astype("f4"))
        assert [row.tolist() for row in view] == whole.astype("i2").tolist()
        assert "as int16" in repr(view)
        with pytest.raises(plait.ArgumentError, match="did you mean"):
            file.astype("flaot64")


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("i4", 1.5),
        ("i4", np.float64(1)),
        ("u1", 256),
        ("u1", [1, -1]),
        ("f8", 1j),
        ("u1", np.int8(1)),
        ("f4", np.datetime64("2020")),
        ("?", 2),
        ("i4", "text"),
        ("f8", None),
        ("f8", np.ma.masked_array([1.0, 2.0])),
        ("f8", [[1.0], [2.0, 3.0]]),
        ("M8[s]", "no date"),
    ],
)
def test_lossy_values_are_errors(tmp_path, dtype, value):
    before = np.zeros(2, dtype)
    np.save(tmp_path / "a.npy", before)
    with plait.open(tmp_path / "a.npy", "r+") as file, pytest.raises(plait.ArgumentError, match="value"):
        file[:] = value
    assert np.array_equal(np.load(tmp_path / "a.npy"), before)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("u1", 255), ("f4", 1), ("i2", np.int64(7)), ("c8", 2.5), ("S2", b"ab"), ("M8[s]", "2020-01-01"), ("?", True)],
)
def test_lossless_values_are_converted(tmp_path, dtype, value):
    with plait.open(tmp_path / "a.npy", "w", shape=3, dtype=dtype) as file:
        file[1] = value
        file[2:] = [value]
    expected = np.zeros(3, dtype)
    expected[1:] = value
    assert np.array_equal(np.load(tmp_path / "a.npy"), expected)


def test_a_value_that_does_not_broadcast_is_an_error(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((3, 4)))
    with plait.open(tmp_path / "a.npy", "r+") as file:
        for index in (..., [0, 2], np.s_[:, ::-1]):
            with pytest.raises(plait.ArgumentError, match=r"cannot be broadcast to the [23]x4"):
                file[index] = np.zeros(5)
    assert not np.load(tmp_path / "a.npy").any()


def test_indices_obey_the_mode_and_the_end_of_a_file(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    with plait.open(tmp_path / "a.npy") as file, pytest.raises(plait.ArgumentError, match=r"r\+"):
        file[0] = 1
    for index in (0, ..., [], [0]):
        with pytest.raises(plait.ArgumentError, match="closed"):
            file[index]


def test_a_communicator_of_one_rank_allows_indexing(tmp_path):
    np.save(tmp_path / "a.npy", make_distinct_array((3, 4)))
    with plait.open(tmp_path / "a.npy", comm=plait.world()) as file:
        check_equal(file[1:, [3, 0]], make_distinct_array((3, 4))[1:, [3, 0]])


def test_several_threads_read_different_parts(tmp_path):
    whole = make_distinct_array((64, 1000))
    np.save(tmp_path / "a.npy", whole)
    mismatches = []

    def read(file, seed):
        random = np.random.default_rng(seed)
        for _ in range(60):
            rows = slice(*sorted(random.integers(0, 65, 2)))
            index = (rows, [int(random.integers(0, 1000)), 5] if seed % 2 else slice(None, None, 3))
            if not np.array_equal(file[index], whole[index]):
                mismatches.append(index)

    with plait.open(tmp_path / "a.npy") as file:
        threads = [threading.Thread(target=read, args=(file, seed)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not mismatches


def test_dask_reads_and_writes_files(tmp_path):
    dask_array = pytest.importorskip("dask.array")
    whole = make_distinct_array((200, 300))
    np.save(tmp_path / "a.npy", whole)
    with plait.open(tmp_path / "a.npy") as file:
        for array in (dask_array.from_array(file), dask_array.from_array(file, chunks=(64, 77))):
            assert array.shape == whole.shape
            assert array.dtype == whole.dtype
            assert np.array_equal(array.compute(scheduler="threads"), whole)
            assert np.array_equal((array[::-3, 5:] + 1).sum(axis=0).compute(), (whole[::-3, 5:] + 1).sum(axis=0))
        small = dask_array.from_array(file.astype("f4"), chunks=(50, 300))
        assert np.array_equal(small.compute(scheduler="threads"), whole.astype("f4"))
    with plait.open(tmp_path / "b.npy", "w", shape=whole.shape, dtype="f8") as file:
        dask_array.store(dask_array.from_array(whole, chunks=(50, 100)), file, scheduler="threads")
    assert np.array_equal(np.load(tmp_path / "b.npy"), whole)


def test_chunks_for_dask_are_contiguous(tmp_path):
    shape = (1000, 500, 300)
    for order in "CF":
        with plait.open("memory:chunks", "w", shape=shape, dtype="f8", order=order) as file:
            chunks = file.chunks
        assert int(np.prod(chunks)) * 8 <= 32 << 20
        assert int(np.prod(chunks)) * 8 > 16 << 20
        assert chunks == ((27, 500, 300) if order == "C" else (1000, 500, 8))
    with plait.open("memory:chunks", "w", shape=(0, 3), dtype="f8") as file:
        assert file.chunks == (1, 3)
