"""plait.redistribute in one process against NumPy's indexing."""

import numpy as np
import pytest
from brute_force import make_distinct_array, matrix_models, models, shapes
from hypothesis import given, settings
from hypothesis import strategies as st

import plait


def unwrap_single(arrays):
    """Return the array of a list of one, and longer lists unchanged."""
    return arrays[0] if len(arrays) == 1 else arrays


def check(actual, expected, target):
    """Check that the result for a target layout has the expected local arrays, contiguous in the layout's order."""
    actual = [actual] if len(expected) == 1 else actual
    assert len(actual) == len(expected)
    for actual_part, expected_part in zip(actual, expected, strict=True):
        assert actual_part.dtype == expected_part.dtype
        assert actual_part.shape == expected_part.shape
        np.testing.assert_array_equal(actual_part, expected_part)
        assert actual_part.flags.f_contiguous if target.order == "F" else actual_part.flags.c_contiguous


@given(st.data())
@settings(max_examples=300)
def test_moves_every_element_to_its_position(data):
    shape = data.draw(shapes)
    source, target = data.draw(models(shape)), data.draw(models(shape))
    whole = make_distinct_array(shape, data.draw(st.sampled_from(["f8", "u1", "c16", ">i2", "S3", "?"])))
    before = source.locals(whole)
    copies = [array.copy() for array in before]
    after = plait.redistribute(unwrap_single(before), source.layout(), target.layout())
    check(after, target.locals(whole), target)
    for array, old in zip(before, copies, strict=True):
        np.testing.assert_array_equal(array, old)


def test_pairs_of_distributions_of_a_matrix():
    whole = make_distinct_array((5, 7))
    targets = matrix_models(5, 7, (3, 2), "F")
    for i, source in enumerate(matrix_models(5, 7, (2, 2))):
        before = unwrap_single(source.locals(whole))
        for target in targets[i % 7 :: 7]:
            check(plait.redistribute(before, source.layout(), target.layout()), target.locals(whole), target)


@given(st.data())
@settings(max_examples=100)
def test_two_redistributions_equal_the_direct_one(data):
    shape = data.draw(shapes)
    a, b, c = (data.draw(models(shape)) for _ in range(3))
    start = unwrap_single(a.locals(make_distinct_array(shape)))
    middle = plait.redistribute(start, a.layout(), b.layout())
    end = plait.redistribute(middle, b.layout(), c.layout())
    direct = plait.redistribute(start, a.layout(), c.layout())
    for actual_part, expected_part in zip(
        end if c.size > 1 else [end], direct if c.size > 1 else [direct], strict=True
    ):
        np.testing.assert_array_equal(actual_part, expected_part)


def test_arrays_may_have_any_strides():
    source = plait.Layout((6, 8), "(block, *) onto (2)")
    target = plait.Layout((6, 8), "(*, cyclic) onto (2)")
    whole = make_distinct_array((6, 8))
    backwards = np.ascontiguousarray(whole[::-1, ::-1])[::-1, ::-1]
    wide = np.zeros((3, 24))
    wide[:, ::3] = whole[3:]
    actual = plait.redistribute([backwards[:3], wide[:, ::3]], source, target)
    np.testing.assert_array_equal(actual[0], whole[:, ::2])
    np.testing.assert_array_equal(actual[1], whole[:, 1::2])
    constant = np.broadcast_to(np.float64(4), (3, 8))
    actual = plait.redistribute((constant, constant), source, target)
    assert (actual[0] == 4).all()
    assert (actual[1] == 4).all()


@pytest.mark.parametrize(
    "dtype",
    [
        np.dtype([("a", "<i2"), ("b", ">f8")]),
        np.dtype({"names": ["a"], "formats": ["<i2"], "itemsize": 12}),
        "<U3",
        "M8[ns]",
        "V5",
    ],
    ids=str,
)
def test_elements_of_any_fixed_size(dtype):
    whole = np.frombuffer(np.random.default_rng(1).bytes(30 * np.dtype(dtype).itemsize).replace(b"\xff", b"\1"), "u1")
    if np.dtype(dtype).kind == "U":
        whole = np.array([chr(97 + i % 26) for i in range(30)], dtype).view("u1")
    array = whole.view(dtype).reshape(5, 6)
    source, target = plait.Layout((5, 6), "(*, *)"), plait.Layout((5, 6), "(cyclic, *) onto (2)")
    actual = plait.redistribute(array, source, target)
    for rank in range(2):
        assert actual[rank].dtype == array.dtype
        np.testing.assert_array_equal(actual[rank], array[rank::2])


def test_incompatible_arguments_are_errors():
    source, target = plait.Layout((4, 6), "(block, *) onto (2)"), plait.Layout((4, 6), "(*, block) onto (3)")
    parts = [np.zeros((2, 6)), np.zeros((2, 6))]
    for array, invalid_target, message in [
        (parts, plait.Layout((6, 4), "(*, *)"), "one shape"),
        (parts[0], target, "one array"),
        (parts[:1], target, "1 local arrays"),
        ([], target, "0 local arrays"),
        ([parts[0], np.zeros((2, 5))], target, "of rank 1 is an array of shape 2x5"),
        ([parts[0], np.zeros((2, 6), "f4")], target, "of rank 1 has dtype"),
        ([np.empty((2, 6), object)] * 2, target, "Python objects"),
        (None, target, "array is missing"),
        ([parts[0], None], target, "of rank 1 is missing"),
        (parts, "(*, block) onto (3) order=K", "order="),
    ]:
        with pytest.raises(plait.ArgumentError, match=message):
            plait.redistribute(array, source, invalid_target)
    with pytest.raises(plait.ArgumentError, match="communicator"):
        plait.redistribute(parts, source, target, comm="world")


def test_large_arrays_are_moved_by_several_threads():
    whole = np.arange(2_000_000, dtype=np.int32).reshape(1000, 2000)
    target = plait.Layout((1000, 2000), "(cyclic, cyclic(7)) onto (2, 3)", order="F")
    parts = plait.redistribute(whole, plait.Layout((1000, 2000), "(*, *)"), target)
    np.testing.assert_array_equal(parts[4], whole[1::2][:, [i for i in range(2000) if i // 7 % 3 == 1]])
    back = plait.redistribute(parts, target, plait.Layout((1000, 2000), "(*, *)"))
    np.testing.assert_array_equal(back, whole)


def test_out_may_be_any_matching_array():
    source, target = plait.Layout((6, 8), "(block, *) onto (2)"), plait.Layout((6, 8), "(*, cyclic) onto (2)")
    whole = make_distinct_array((6, 8))
    wide = np.zeros((6, 12))
    out = [wide[:, ::3], np.zeros((6, 4), order="F")]
    assert plait.redistribute([whole[:3], whole[3:]], source, target, out=out) is out
    np.testing.assert_array_equal(out[0], whole[:, ::2])
    np.testing.assert_array_equal(out[1], whole[:, 1::2])
    assert not wide[:, 1::3].any()
    read_only = np.zeros((6, 4))
    read_only.flags.writeable = False
    for invalid_out, message in [
        ([out[0], read_only], "read-only"),
        (out[0], "one array"),
        ([out[0], [0]], "a NumPy array"),
    ]:
        with pytest.raises(plait.ArgumentError, match=message):
            plait.redistribute([whole[:3], whole[3:]], source, target, out=invalid_out)
    with pytest.raises(plait.ArgumentError, match="memory=-3"):
        plait.redistribute([whole[:3], whole[3:]], source, target, memory=-3)


def test_sections_move_between_regions_of_two_arrays():
    random = np.random.default_rng(4)
    a, b = make_distinct_array((9, 10)), -make_distinct_array((7, 12))
    source, target = (
        plait.Layout((9, 10), "(cyclic(2), block) onto (2, 2)"),
        plait.Layout((7, 12), "(*, cyclic) onto (3)"),
    )
    parts = plait.redistribute(a, plait.Layout((9, 10), "(*, *)"), source)
    for _ in range(40):
        rows, columns = int(random.integers(0, 7)), int(random.integers(0, 9))
        at = [int(random.integers(0, last + 1)) for last in (9 - rows, 10 - columns, 7 - rows, 12 - columns)]
        source_region = np.s_[at[0] : at[0] + rows, at[1] : at[1] + columns]
        target_region = np.s_[at[2] : at[2] + rows, at[3] : at[3] + columns]
        out = plait.redistribute(b, plait.Layout((7, 12), "(*, *)"), target)
        plait.redistribute(parts, source, target, out=out, source_region=source_region, target_region=target_region)
        expected = b.copy()
        expected[target_region] = a[source_region]
        back = plait.redistribute(out, target, plait.Layout((7, 12), "(*, *)"))
        np.testing.assert_array_equal(back, expected)


def test_incompatible_sections_are_errors():
    source, target = plait.Layout((4, 6), "(*, *)"), plait.Layout((8, 3), "(*, *)")
    array, out = np.zeros((4, 6)), np.zeros((8, 3))
    for source_region, target_region, filled, message in [
        (np.s_[0:2, 0:3], np.s_[0:3, 0:3], out, "the regions differ"),
        (np.s_[0:4:2, 0:3], np.s_[0:2, 0:3], out, "step other than 1"),
        (np.s_[0:2, 0:3], np.s_[0:2], None, "needs out="),
        (np.s_[9, 0], np.s_[0, 0], out, "out of bounds"),
        (None, np.s_[0:2], out, "the regions differ"),
    ]:
        with pytest.raises(plait.ArgumentError, match=message):
            plait.redistribute(
                array, source, target, out=filled, source_region=source_region, target_region=target_region
            )


def test_a_plan_is_reused():
    source, target = (
        plait.Layout((30, 40), "(cyclic(3), block) onto (2, 2)"),
        plait.Layout((30, 40), "(*, cyclic) onto (3)"),
    )
    whole = plait.Layout((30, 40), "(*, *)")
    with plait.Redistribution(source, target, "f4", memory=4096) as plan:
        assert [array.shape for array in plan.source] == [source.local_shape(rank) for rank in range(4)]
        for step in range(3):
            expected = make_distinct_array((30, 40), "f4") + step
            for array, part in zip(plan.source, plait.redistribute(expected, whole, source), strict=True):
                array[...] = part
            after = plan.run() if step % 2 == 0 else plan.start().wait()
            assert all(array is target_array for array, target_array in zip(after, plan.target, strict=True))
            np.testing.assert_array_equal(plait.redistribute(after, target, whole), expected)
        other = [np.zeros_like(array) for array in plan.target]
        assert plan.run(out=other) is other
        np.testing.assert_array_equal(plait.redistribute(other, target, whole), expected)
        assert "30x40" in plan.explain()
        with pytest.raises(plait.ArgumentError, match="needs one of shape"):
            plan.run(out=[array.T for array in other])
    for call in (plan.run, plan.explain, lambda: plan.source):
        with pytest.raises(plait.ArgumentError, match="closed"):
            call()
    plan.close()


def test_nonblocking_redistributions_complete_in_order():
    source, target = plait.Layout((64, 64), "(block, *) onto (2)"), plait.Layout((64, 64), "(*, block) onto (2)")
    first = plait.redistribute(make_distinct_array((64, 64)), plait.Layout((64, 64), "(*, *)"), source)
    requests = []
    arrays = first
    for step in range(6):
        layouts = (source, target) if step % 2 == 0 else (target, source)
        out = [np.empty(layouts[1].local_shape(rank)) for rank in range(2)]
        requests.append(plait.iredistribute(arrays, *layouts, out=out))
        arrays = out
    last = requests[-1].wait()
    assert all(request.test() for request in requests)
    for actual_part, expected_part in zip(last, first, strict=True):
        np.testing.assert_array_equal(actual_part, expected_part)


def test_shared_arrays_live_as_long_as_their_references():
    layout = plait.Layout((100, 200), "(block, *) onto (2)", order="F")
    arrays = plait.empty(layout, "i4")
    assert [array.shape for array in arrays] == [(50, 200)] * 2
    assert all(array.flags.f_contiguous and array.dtype == np.int32 for array in arrays)
    arrays[1][...] = 7
    view = arrays[1][::2, 3]
    del arrays
    assert (view == 7).all()
    single = plait.empty(plait.Layout((3, 0), "(*, *)"), "f8")
    assert single.shape == (3, 0)
    assert plait.empty(plait.Layout((), "()"), "f8").shape == ()
    with pytest.raises(plait.ArgumentError, match="Python objects"):
        plait.empty(layout, object)
