"""Chunks: one chunk of Dask for each rank, and whole chunks of Zarr and HDF5."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plait
from plait.notations import chunks, dask


def test_chunks_of_dask_become_layouts_and_back():
    array = pytest.importorskip("dask.array", reason="dask is not installed")
    whole = np.arange(60).reshape(10, 6)
    lazy = array.from_array(whole, chunks=((5, 0, 3, 2), (4, 2)))
    layout = dask.from_chunks(lazy)
    assert layout == plait.Layout.parse("10x6 (gen_block(5, 0, 3, 2), gen_block(4, 2)) onto (4, 2)")
    assert dask.to_chunks(layout) == lazy.chunks
    for rank, position in enumerate(np.ndindex(lazy.numblocks)):
        np.testing.assert_array_equal(lazy.blocks[position].compute(), whole[np.ix_(*layout.indices(rank))])
    balanced = plait.Layout.parse("10x6 (balanced, block) onto (4, 2)")
    rechunked = lazy.rechunk(dask.to_chunks(balanced))
    assert dask.from_chunks(rechunked) == balanced
    unknown = lazy[lazy[:, 0] > 5]
    with pytest.raises(plait.ArgumentError, match="unknown sizes"):
        dask.from_chunks(unknown)


def test_sizes_of_chunks_may_be_given_in_several_forms():
    assert dask.from_chunks((4, -1), (10, 3)) == plait.Layout.parse("10x3 (block(4), *) onto (3)")
    assert dask.from_chunks(((4, 6), 3), (10, 3)) == plait.Layout.parse("10x3 (gen_block(4, 6), *) onto (2)")
    assert dask.from_chunks(()) == plait.Layout.parse("scalar ()")
    for sizes, shape, reason in [
        ((4, 3), None, "give the size of each chunk"),
        (((4, 5),), (10,), "should sum to 10"),
        (("auto",), (10,), "expected a sequence of integers"),
        ("auto", (10,), "chunks is 'auto'"),
        ((4,), (10, 3), "has length 1; expected 2"),
        (((4, -1),), None, "integers of 0 or more"),
    ]:
        with pytest.raises(plait.ArgumentError, match=reason):
            dask.from_chunks(sizes, shape)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("10 (cyclic(2)) onto (2)", "no ascending blocks"),
        ("8x8 (block, block) onto (2, 2) ranks=F", "C order of the grid"),
        ("8 (*) onto (2) replicate=(0)", "a chunk is there once"),
        ("8 (block) onto (2) halo=(1)", "do not overlap"),
        ("8x8 (block, *) onto (2) order=F", "order=F"),
    ],
)
def test_layouts_that_dask_cannot_express_are_rejected(text, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        dask.to_chunks(plait.Layout.parse(text))


def test_ranks_have_whole_chunks_of_zarr(tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3", reason="zarr 3 is not installed")
    plain = zarr.create_array(str(tmp_path / "plain.zarr"), shape=(20, 9), chunks=(4, 5), dtype="i4")
    layout = chunks.from_chunks(plain, grid=(2, 2))
    assert layout == plait.Layout.parse("20x9 (cyclic(4), cyclic(5)) onto (2, 2)")
    sharded = zarr.create_array(str(tmp_path / "s.zarr"), shape=(20, 9), chunks=(2, 3), shards=(4, 9), dtype="i4")
    layout = chunks.from_chunks(sharded, grid=(3, 1), distribution="block")
    assert layout == plait.Layout.parse("20x9 (block(8), *) onto (3)")
    # Ranks that write their own parts of whole chunks one after the other do not overwrite each other's parts.
    whole = np.arange(180, dtype="i4").reshape(20, 9)
    for rank in range(layout.size):
        rows, columns = layout.indices(rank)
        for unit in range(0, len(rows), 4):
            own_rows = rows[unit : unit + 4]
            sharded[own_rows[0] : own_rows[-1] + 1, columns[0] : columns[-1] + 1] = whole[np.ix_(own_rows, columns)]
    np.testing.assert_array_equal(sharded[:], whole)
    expected = plait.Layout.parse("20x9 (cyclic(4), block) onto (2, 3)")
    array = zarr.create_array(str(tmp_path / "made.zarr"), shape=(20, 9), chunks=chunks.to_chunks(expected), dtype="i4")
    assert array.chunks == (4, 3)
    assert chunks.from_chunks(array, grid=(2, 3)) == expected


def test_ranks_have_whole_chunks_of_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        chunked = file.create_dataset("chunked", (20, 9), "f8", chunks=(4, 5))
        layout = chunks.from_chunks(chunked, grid=(2, 2), order="F")
        assert layout == plait.Layout.parse("20x9 (cyclic(4), cyclic(5)) onto (2, 2) order=F")
        with pytest.raises(plait.ArgumentError, match="contiguously"):
            chunks.from_chunks(file.create_dataset("plain", (20, 9), "f8"), grid=(2, 2))
        with pytest.raises(plait.ArgumentError, match="given twice"):
            chunks.from_chunks(chunked, (4, 5), grid=(2, 2))


@given(st.data())
@settings(max_examples=150)
def test_no_two_ranks_share_a_chunk(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=3)))
    sizes = tuple(data.draw(st.integers(1, 5)) for _ in shape)
    grid = tuple(data.draw(st.integers(1, 3)) for _ in shape)
    distribution = data.draw(st.sampled_from(["cyclic", "block"]))
    layout = chunks.from_chunks(shape, sizes, grid=grid, distribution=distribution)
    owner = {}
    for rank in range(layout.size):
        for index in np.ndindex(*layout.local_shape(rank)):
            element = [int(indices[i]) for indices, i in zip(layout.indices(rank), index, strict=True)]
            chunk = tuple(i // size for i, size in zip(element, sizes, strict=True))
            assert owner.setdefault(chunk, rank) == rank
    assert len(owner) == np.prod([-(-n // size) for n, size in zip(shape, sizes, strict=True)])
    largest_chunk = chunks.to_chunks(layout)
    for n, size, extent, largest in zip(shape, sizes, grid, largest_chunk, strict=True):
        assert largest % size == 0 or extent == 1 or largest == max(n, 1)


def test_chunks_that_match_a_layout():
    def suitable_chunks(text, **options):
        return chunks.to_chunks(plait.Layout.parse(text), **options)

    assert suitable_chunks("100x80 (cyclic(4), cyclic(6)) onto (2, 3)") == (4, 6)
    assert suitable_chunks("100x80 (gen_block(40, 24, 36), *) onto (3)") == (8, 80)
    assert suitable_chunks("100 (block) onto (4)") == (25,)
    assert suitable_chunks("10 (balanced) onto (4)") == (1,)
    assert suitable_chunks("0x7 (block, *) onto (2)") == (1, 7)
    assert suitable_chunks("1000000000000x8 (block, *) onto (4)") == (250000000000, 8)
    assert suitable_chunks("1000000000000x8 (block, *) onto (4)", max_elements=1000) == (125, 8)
    assert suitable_chunks("64x64 (block, block) onto (2, 2)", max_elements=64) == (2, 32)
    assert suitable_chunks("64x64 (block, block) onto (2, 2)", max_elements=7) == (1, 4)
    with pytest.raises(plait.ArgumentError, match="no dimensions"):
        suitable_chunks("scalar ()")
    with pytest.raises(plait.ArgumentError, match="max_elements is 0"):
        suitable_chunks("64 (block) onto (2)", max_elements=0)


@pytest.mark.parametrize(
    ("arguments", "options", "reason"),
    [
        (((8,), (0,)), {"grid": (2,)}, "integers of 1 or more"),
        (((8,), (2, 2)), {"grid": (2,)}, "chunks has length 2"),
        (((8,), (2,)), {"grid": (2, 2)}, "grid has length 2"),
        (((8,), (2,)), {"grid": (2,), "distribution": "random"}, 'distribution is "random"'),
        (((8,),), {"grid": (2,)}, "chunks is missing"),
    ],
)
def test_invalid_chunks_are_errors(arguments, options, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        chunks.from_chunks(*arguments, **options)
