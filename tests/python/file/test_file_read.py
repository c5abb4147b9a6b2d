"""Reading files in every layout, region and type, compared with NumPy's indexing."""

import numpy as np
import pytest
from brute_force import LayoutModel, make_distinct_array, matrix_models, models, regions, shapes
from hypothesis import given, settings
from hypothesis import strategies as st

import plait

STRATEGIES = st.sampled_from([None, "direct", "two-phase", "automatic"])


def write_raw_file(folder, array, order="C", name="a.bin"):
    path = folder / name
    path.write_bytes(array.tobytes(order))
    return path


def check_parts(actual, expected, order):
    """Check the local arrays of all ranks; `actual` is one array if there is one rank."""
    actual = [actual] if len(expected) == 1 else actual
    assert isinstance(actual, list)
    assert len(actual) == len(expected)
    for actual_part, expected_part in zip(actual, expected, strict=True):
        assert actual_part.dtype == expected_part.dtype
        assert actual_part.shape == expected_part.shape
        assert actual_part.tobytes() == expected_part.tobytes()
        assert actual_part.flags.f_contiguous if order == "F" else actual_part.flags.c_contiguous


@pytest.mark.sampled(3)
@pytest.mark.parametrize("file_order", ["C", "F"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
def test_every_pair_of_distributions_of_a_matrix_is_read(tmp_path, file_order, order, strategy):
    array = make_distinct_array((5, 7))
    path = write_raw_file(tmp_path, array, file_order)
    with plait.open(path, shape=(5, 7), dtype="f8", order=file_order, strategy=strategy, memory=96) as file:
        for extents in [(2, 3), (3, 2), (7, 1), (1, 8)]:
            for model in matrix_models(5, 7, extents, order):
                check_parts(file.read(model.layout()), model.locals(array), order)


@given(st.data())
@settings(max_examples=400)
def test_random_layouts_are_read(tmp_path, data):
    shape = data.draw(shapes)
    model = data.draw(models(shape))
    file_order = data.draw(st.sampled_from("CF"))
    array = make_distinct_array(shape, data.draw(st.sampled_from(["f8", "u1", "c16", "S3"])))
    path = write_raw_file(tmp_path, array, file_order)
    with plait.open(
        path,
        shape=shape,
        dtype=array.dtype,
        order=file_order,
        strategy=data.draw(STRATEGIES),
        memory=data.draw(st.sampled_from([0, 48, 100, 1 << 20])),
    ) as file:
        check_parts(file.read(model.layout()), model.locals(array), model.order)


@pytest.mark.parametrize("file_order", ["C", "F"])
@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
@pytest.mark.parametrize("readers", [0, 1])
def test_arrays_of_many_windows_are_read(tmp_path, file_order, strategy, readers):
    # Larger than a storage unit, so that windows and shares have edges; no unit is a multiple of the element size.
    array = np.random.default_rng(0).integers(0, 256, (211, 97, 12), dtype=np.uint8).view("V12")[..., 0]
    path = tmp_path / "a.bin"
    path.write_bytes(b"?" * 1000 + array.tobytes(file_order))
    options = {"order": file_order, "strategy": strategy, "readers": readers, "offset": 1000}
    for dist in (["cyclic", "cyclic(5)"], ["block", "balanced"], ["cyclic(100)", "gen_block(0, 97, 0)"]):
        model = LayoutModel((211, 97), tuple(dist), (2, 3))
        with plait.open(path, shape=(211, 97), dtype="V12", memory=30_000, **options) as file:
            check_parts(file.read(model.layout()), model.locals(array), "C")


def test_large_arrays_are_read_by_several_threads(tmp_path):
    array = np.arange(1_500_000, dtype=np.float32).reshape(1000, 1500)
    path = write_raw_file(tmp_path, array)
    for strategy in ("direct", "two-phase"):
        for dist, grid in [("(block, *)", (2,)), ("(cyclic, *)", (3,)), ("(cyclic, cyclic(64))", (2, 2))]:
            layout = plait.Layout((1000, 1500), dist, grid=grid, order="F")
            with plait.open(path, shape=(1000, 1500), dtype="f4", strategy=strategy, memory=1 << 20) as file:
                parts = file.read(layout)
                for rank, part in enumerate(parts):
                    np.testing.assert_array_equal(part, array[np.ix_(*layout.indices(rank))])


REGIONS = [
    np.s_[:, :, :],
    np.s_[...],
    np.s_[2],
    np.s_[-1],
    np.s_[1:4],
    np.s_[::2],
    np.s_[1::3, ..., ::2],
    np.s_[..., 3],
    np.s_[..., 1:5:3],
    np.s_[2, 3, 4],
    np.s_[2, :, 4],
    np.s_[:, 2, :],
    np.s_[1:-1, 1:-1, 1:-1],
    np.s_[3:3],
    np.s_[4:2, ::2],
    np.s_[:, 10:, :],
    np.s_[2:100, -3:],
    np.s_[1:2, 1:2, 1:2],
    np.s_[..., 1:2],
    np.s_[-4::2, ..., -5::3],
    (),
    (Ellipsis, slice(None, None, 7)),
    np.int64(3),
    (np.uint8(1), slice(np.int64(1), None)),
]


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
@pytest.mark.parametrize("file_order", ["C", "F"])
def test_regions_equal_those_of_numpy(tmp_path, file_order, strategy):
    array = make_distinct_array((5, 6, 7))
    path = write_raw_file(tmp_path, array, file_order)
    with plait.open(path, shape=(5, 6, 7), dtype="f8", order=file_order, strategy=strategy, memory=200) as file:
        for region in REGIONS:
            expected = array[region]
            actual = file.read(region=region)
            assert actual.shape == expected.shape, region
            np.testing.assert_array_equal(actual, expected, err_msg=str(region))


@given(st.data())
@settings(max_examples=300)
def test_random_regions_are_read_in_random_layouts(tmp_path, data):
    shape = data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=4).map(tuple))
    region = data.draw(regions(shape))
    if data.draw(st.booleans()):
        length = data.draw(st.integers(0, len(region)))
        region = (*region[:length], ...)
    array = make_distinct_array(shape, "i4")
    file_order = data.draw(st.sampled_from("CF"))
    path = write_raw_file(tmp_path, array, file_order)
    expected = array[region]
    model = data.draw(models(expected.shape))
    strategy = data.draw(STRATEGIES)
    memory = data.draw(st.sampled_from([0, 12, 40]))
    with plait.open(path, shape=shape, dtype="i4", order=file_order, strategy=strategy, memory=memory) as file:
        check_parts(file.read(model.layout(), region=region), model.locals(expected), model.order)


@pytest.mark.parametrize(
    ("region", "message"),
    [
        (np.s_[5], "index 5 is out of bounds"),
        (np.s_[-6], "index -6 is out of bounds"),
        (np.s_[::-1], "step is -1"),
        (np.s_[0, 0, 0, 0], "4 indices for an array of 3"),
        (np.s_[..., 0, ...], "use it once at most"),
        (np.s_[[0, 1]], "neither an integer nor a slice"),
        (np.s_[None, 0], "neither an integer nor a slice"),
        (np.s_[1.5], "neither an integer nor a slice"),
        ("all", "neither an integer nor a slice"),
        (np.s_[:, ::0], "zero"),
        (np.s_[1.5:], "bound or step that is not an integer"),
    ],
    ids=str,
)
def test_invalid_regions_are_errors(tmp_path, region, message):
    path = write_raw_file(tmp_path, make_distinct_array((5, 6, 7)))
    with plait.open(path, shape=(5, 6, 7), dtype="f8") as file:
        with pytest.raises(plait.ArgumentError, match=message):
            file.read(region=region)
        with pytest.raises(plait.ArgumentError, match=message):
            file.explain(region=region)
        assert file.read(region=np.s_[0, 0, 0]) == 1


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
def test_out_may_have_any_strides(tmp_path, strategy):
    array = make_distinct_array((6, 8))
    path = write_raw_file(tmp_path, array)
    with plait.open(path, shape=(6, 8), dtype="f8", strategy=strategy, memory=100) as file:
        plain = np.empty((6, 8))
        assert file.read(out=plain) is plain
        np.testing.assert_array_equal(plain, array)

        transposed = np.empty((8, 6)).T
        file.read(out=transposed)
        np.testing.assert_array_equal(transposed, array)

        memory = np.full((14, 30), -1.0)
        view = memory[13:1:-2, 2:26:3]
        file.read(out=view)
        np.testing.assert_array_equal(view, array)
        assert (memory == -1).sum() == memory.size - array.size  # nothing else is written

        layout = plait.Layout((6, 8), "(cyclic, *) onto (2)")
        box = np.full((8, 2, 3), -1.0)
        parts = [box[:, rank, :].T for rank in range(2)]
        assert file.read(layout, out=parts) is parts
        for rank in range(2):
            np.testing.assert_array_equal(parts[rank], array[rank::2])

        single = np.empty(8)
        file.read(out=single, region=3)
        np.testing.assert_array_equal(single, array[3])


def test_incompatible_out_arrays_are_errors(tmp_path):
    path = write_raw_file(tmp_path, make_distinct_array((6, 8)))
    layout = plait.Layout((6, 8), "(block, *) onto (2)")
    read_only = np.empty((6, 8))
    read_only.flags.writeable = False
    with plait.open(path, shape=(6, 8), dtype="f8") as file:
        for read_layout, out, message in [
            (None, np.empty((8, 6)), "shape"),
            (None, np.empty((6, 8), "f4"), "dtype"),
            (None, np.empty((6, 8), ">f8"), "dtype"),
            (None, read_only, "read-only"),
            (None, "text", "pass a NumPy array"),
            (layout, np.empty((6, 8)), "pass a list"),
            (layout, [np.empty((3, 8))], "1 local arrays"),
            (layout, [np.empty((3, 8)), np.empty((2, 8))], "of rank 1"),
        ]:
            with pytest.raises(plait.ArgumentError, match=message):
                file.read(read_layout, out=out)
        with pytest.raises(plait.ArgumentError, match="8x6"):
            file.read(plait.Layout((8, 6), "(*, *)"))
        with pytest.raises(plait.ArgumentError, match="region"):
            file.read(plait.Layout((6, 8), "(*, *)"), region=np.s_[1:])
        halves = file.read("(block, *) onto (2)")
        np.testing.assert_array_equal(np.concatenate(halves), make_distinct_array((6, 8)))
        np.testing.assert_array_equal(file.read(), make_distinct_array((6, 8)))


def test_ranks_may_outnumber_the_elements(tmp_path):
    array = make_distinct_array((2, 3))
    path = write_raw_file(tmp_path, array)
    for dist in ("block", "cyclic", "cyclic(2)", "balanced", "gen_block(0, 0, 2, 0, 0)"):
        model = LayoutModel((2, 3), (dist, "block"), (5, 4))
        for strategy in ("direct", "two-phase"):
            with plait.open(path, shape=(2, 3), dtype="f8", strategy=strategy) as file:
                check_parts(file.read(model.layout()), model.locals(array), "C")


def test_the_default_layout_is_that_of_the_file(tmp_path):
    array = make_distinct_array((4, 6))
    for order in "CF":
        with plait.open(write_raw_file(tmp_path, array, order), shape=(4, 6), dtype="f8", order=order) as file:
            actual = file.read()
            np.testing.assert_array_equal(actual, array)
            assert actual.flags.c_contiguous == (order == "C")
            np.testing.assert_array_equal(file.read(region=np.s_[1:3, 2]), array[1:3, 2])


def test_files_have_properties(tmp_path):
    path = write_raw_file(tmp_path, make_distinct_array((4, 6)))
    with plait.open(path, shape=(4, 6), dtype="<f8") as file:
        assert (file.url, file.mode, file.shape, file.order) == (str(path), "r", (4, 6), "C")
        assert file.dtype == np.dtype("f8")
        assert not file.closed
        assert repr(file) == f"<plait.File '{path}' mode='r' 4x6 float64>"
        file.read()
        times = file.last_times()
        assert sorted(times) == ["copy", "io", "total", "wait"]
        assert all(seconds >= 0 for seconds in times.values())
        assert times["total"] > 0
    assert file.closed
    assert repr(file).startswith("<closed plait.File")


@pytest.mark.parametrize("write", [False, True])
def test_explain_describes_the_plan(tmp_path, write):
    path = write_raw_file(tmp_path, make_distinct_array((64, 128)))
    layout = plait.Layout((64, 128), "(*, cyclic) onto (4)")
    for strategy in ("direct", "two-phase"):
        with plait.open(path, "r+", shape=(64, 128), dtype="f8", strategy=strategy) as file:
            text = file.explain(layout, write=write)
            assert strategy in text
            assert str(layout) in text
            assert str(path) in text
            assert file.explain(layout, write=write) == text
            with pytest.raises(plait.ArgumentError):
                file.explain(plait.Layout((64, 127), "(*, *)"))
    with pytest.raises(plait.ArgumentError, match="closed"):
        file.explain()


def test_the_number_of_readers_is_checked(tmp_path):
    path = write_raw_file(tmp_path, make_distinct_array((4, 6)))
    with plait.open(path, shape=(4, 6), dtype="f8", strategy="two-phase", readers=5) as file:
        np.testing.assert_array_equal(file.read(), make_distinct_array((4, 6)))
    with pytest.raises(plait.ArgumentError, match="readers=-1"):
        plait.open(path, shape=(4, 6), dtype="f8", readers=-1)


def test_too_little_memory_for_a_window_is_rejected(tmp_path):
    path = write_raw_file(tmp_path, make_distinct_array((4, 6)))
    small = plait.open(path, shape=(4, 6), dtype="f8", strategy="two-phase", memory=15)
    with pytest.raises(plait.ArgumentError, match="memory=15"):
        small.read()
    with plait.open(path, shape=(4, 6), dtype="f8", strategy="two-phase", memory=16) as file:
        np.testing.assert_array_equal(file.read(), make_distinct_array((4, 6)))
