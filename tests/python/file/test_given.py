"""Arguments in other forms: layouts and numbers of bytes as texts, arrays as lists, and grids as numbers."""

import io

import numpy as np
import pytest

import plait
from plait import Layout


def test_a_number_is_a_grid_with_one_axis():
    assert Layout((8, 12), "(block, *)", grid=4) == Layout((8, 12), "(block, *)", grid=(4,))
    assert Layout(8, "(cyclic)", grid=np.int64(3)) == Layout((8,), "(cyclic)", grid=(3,))
    with pytest.raises(plait.ArgumentError, match="has 1 axis"):
        Layout((8, 12), "(block, block)", grid=4)
    with pytest.raises(plait.ArgumentError, match="given twice and differs"):
        Layout((8, 12), "(block, *) onto (2)", grid=4)


@pytest.mark.parametrize("undistributed", [None, ":", "*"])
def test_undistributed_dimensions_have_several_spellings(undistributed):
    expected = Layout((8, 12, 3), "(*, block, *)", grid=(4,))
    assert Layout((8, 12, 3), [undistributed, "block", undistributed], grid=4) == expected
    assert Layout((8, 12, 3), f"({undistributed or ':'}, block, {undistributed or ':'}) onto (4)") == expected
    assert str(Layout((8, 12, 3), [undistributed, "block", undistributed], grid=4)) == "8x12x3 (*, block, *) onto (4)"
    assert Layout((8,), [undistributed]) == Layout((8,), "(*)")


def test_layouts_may_be_texts(tmp_path):
    array = np.arange(96.0).reshape(8, 12)
    text = "(block, :) onto (4)"
    layout = Layout((8, 12), "(block, *)", grid=4)
    parts = [array[2 * rank : 2 * rank + 2] for rank in range(4)]

    def check(actual_parts):
        for part, expected in zip(actual_parts, parts, strict=True):
            assert np.array_equal(part, expected)

    with plait.open(tmp_path / "a.npy", "w", shape=array.shape, dtype="f8") as file:
        file.write(parts, text)
        assert file.explain(text) == file.explain(layout)
        check(file.read(text))
        check(file.iread(text).wait())
        file.iwrite(parts, text).wait()
    with plait.open("memory:text", "w", shape=(2, 12), dtype="f8") as file:
        file.write([array[:1], array[1:2]], "(block, *) onto (2)", region=np.s_[:2])
    check(plait.redistribute(array, "(*, *)", text))
    check(plait.iredistribute([array], "8x12 (*, *)", text).wait())
    with plait.Redistribution("8x12 (*, *)", text, "f8") as plan:
        check(plan.run(array))
    check(plait.redistribute(array, "(*, *)", text, out=plait.empty(f"8x12 {text}", "f8")))
    assert plait.compose("8x12 (*, *)", f"8x12 {text}").target == layout
    assert plait.relabel(f"8x12 {text}", f"8x12 {text}") == layout


def test_arrays_may_be_lists(tmp_path):
    rows = [[1, 2, 3], [4, 5, 6]]
    with plait.open(tmp_path / "a.npy", "w", shape=(2, 3), dtype="f4") as file:
        file.write(rows)
        file.write([[7, 8]], region=np.s_[1:, :2])
        assert np.array_equal(file.read(), [[1, 2, 3], [7, 8, 6]])
        file.write([[[9, 9, 9]], [[8, 8, 8]]], "(block, *) onto (2)")
        assert np.array_equal(file.read(), [[9, 9, 9], [8, 8, 8]])
        file.iwrite(rows).wait()
        stream = file.stream()
        stream.write([0, 0.5])
    assert np.array_equal(np.load(tmp_path / "a.npy"), [[0, 0.5, 3], [4, 5, 6]])
    assert np.array_equal(plait.redistribute(rows, "2x3 (*, *)", "(*, *) order=F"), rows)
    mixed = plait.redistribute([1, 2.5], "2 (*)", "(*)")
    assert mixed.tolist() == [1, 2.5]
    with plait.open(tmp_path / "b.npy", "w", shape=3, dtype="u1") as file:
        with pytest.raises(plait.ArgumentError, match="holds 0 to 255"):
            file.write([1, 2, 300])
        with pytest.raises(plait.ArgumentError, match="without changing its kind"):
            file.write([1, 2, 3.5])
        file.write([[1, 2, 3]])  # the list of all local arrays, of which there is one


@pytest.mark.parametrize("text", ["1M", "1 MiB", "1024K", "1048576", " 1024 kib ", "1m"])
def test_numbers_of_bytes_may_be_texts(tmp_path, text):
    array = np.arange(1 << 20, dtype="f8").reshape(1024, 1024)
    np.save(tmp_path / "a.npy", array)
    layout = "(*, cyclic) onto (4)"
    with plait.open(tmp_path / "a.npy", memory=1 << 20) as file:
        expected = file.explain(layout)
    with plait.open(tmp_path / "a.npy", memory=text) as file:
        assert file.explain(layout) == expected
    with plait.Redistribution("8 (block) onto (2)", "(cyclic) onto (2)", "f8", memory=text) as plan:
        assert plan.explain()
    assert plait.copy(tmp_path / "a.npy", tmp_path / "b.npy", memory=text).windows > 1
    assert np.array_equal(np.load(tmp_path / "b.npy"), array)


@pytest.mark.parametrize("text", ["", "M", "1.5M", "-1", "1MB", "1 X", "1Mi"])
def test_texts_that_are_not_numbers_of_bytes_are_errors(tmp_path, text):
    np.save(tmp_path / "a.npy", np.zeros(3))
    for call in (
        lambda: plait.open(tmp_path / "a.npy", memory=text),
        lambda: plait.copy(tmp_path / "a.npy", io.BytesIO(), memory=text),
        lambda: plait.redistribute([0.0], "1 (*)", "(*)", memory=text),
    ):
        with pytest.raises(plait.ArgumentError, match="is not a number of bytes"):
            call()
