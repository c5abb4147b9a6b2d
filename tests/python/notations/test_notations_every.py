"""Every notation either expresses a layout, which then survives conversion and back, or rejects it with a reason."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation_layouts import layouts, list_ranks, owned_elements

import plait
from plait.notations import chunks, dask, distarray, dtensor, jax, mpi, pencil, scalapack
from plait.notations._table import make_table


def through_scalapack(layout):
    grid, order = scalapack.to_grid(layout)
    back = {
        scalapack.from_descriptor(scalapack.to_descriptor(layout, r), grid, order=order) for r in list_ranks(layout)
    }
    assert len(back) == 1
    return back.pop()


def through_darray(layout):
    (back,) = {mpi.from_darray(*mpi.to_darray(layout, rank)) for rank in list_ranks(layout)}
    return back


def through_subarrays(layout):
    return mpi.from_subarrays({rank: mpi.to_subarray(layout, rank) for rank in list_ranks(layout)})


def through_distarray(layout):
    return distarray.from_distarray([distarray.to_distarray(layout, rank) for rank in list_ranks(layout)])


def through_jax(layout):
    sharding = jax.to_spec(layout)
    return jax.from_spec(sharding.spec, layout.shape, sharding.mesh, sharding.devices)


def through_dtensor(layout):
    placements, mesh = dtensor.to_placements(layout)
    return dtensor.from_placements(placements, mesh.shape, layout.shape, ranks=mesh)


def through_dask(layout):
    return dask.from_chunks(dask.to_chunks(layout), layout.shape)


def through_pencil(layout):
    return pencil.from_pencil(*pencil.to_pencil(layout))


CONVERTERS = [
    through_scalapack,
    through_darray,
    through_subarrays,
    through_distarray,
    through_jax,
    through_dtensor,
    through_dask,
    through_pencil,
]


def argument_id(value):
    """Return the identifier of a test's argument: the name of a notation, or the text of a layout."""
    return value.__name__.removeprefix("through_") if callable(value) else value


@pytest.mark.sampled(3)
@pytest.mark.parametrize("through", CONVERTERS, ids=argument_id)
@given(layout=st.one_of(layouts(plain=True), layouts()))
@settings(max_examples=250)
def test_layouts_are_expressed_or_rejected(through, layout):
    reason = None
    try:
        back = through(layout)
    except plait.ArgumentError as error:
        reason = str(error)
    if reason is None:
        assert back == layout
    else:
        assert " cannot say " in reason
        assert str(layout)[:100] in reason


# Layouts that each notation must express, so that rejecting everything does not pass.
MUST_EXPRESS = {
    through_scalapack: [
        "100x80 (cyclic(4), cyclic(3)) onto (2, 4) order=F",
        "100x80 (cyclic(4), cyclic(3)) onto (2, 4) ranks=F order=F",
        "9x5 (block, *) onto (3) order=F",
        "100x80 (cyclic(4), cyclic(3)) onto (2, 4) ranks=(7, 6, 5, 4, 3, 2, 1, 0) order=F",
        "100x80 (cyclic(4), cyclic(3)) onto (2, 4) source=(1, 2) order=F",
    ],
    through_darray: [
        "7x9x4 (block, cyclic(2), *) onto (2, 3)",
        "7x9 (block(5), cyclic) onto (2, 3) order=F",
        "12 (cyclic(5)) onto (4)",
    ],
    through_subarrays: [
        "7x9 (gen_block(1, 6), balanced) onto (2, 4)",
        "7x9 (gen_block(1, 6), balanced) onto (2, 4) ranks=F order=F",
        "7x9 (block@0, *) onto (2, 2) replicate=(1)",
        "7x9 (block, block) onto (2, 2) ranks=(10, 3, 4, 7)",
    ],
    through_distarray: [
        "7x9 (gen_block(1, 0, 6), cyclic(2)) onto (3, 2)",
        "7x9 (cyclic, cyclic(2)) onto (3, 2) source=(2, 1)",
        "7 (indirect(0, 2, 1, 1, 2, 0, 0)) onto (3)",
        "9x8 (block, block) onto (3, 2) halo=(1, 2:0)",
        "9x8 (block, *) onto (3) halo=(1, 1) periodic=(1)",
    ],
    through_jax: [
        "8x12 (block, block) onto (2, 3)",
        "8x12 (block@1, *) onto (2, 4) replicate=(0)",
        "8x12 (block@(1, 0), *) onto (2, 4)",
        "8x12 (*, *) onto (4) replicate=(0)",
        "8 (block) onto (4) ranks=(3, 1, 0, 2)",
        "scalar ()",
    ],
    through_dtensor: [
        "8x12 (block, block) onto (2, 3)",
        "7x12 (block@1, *) onto (2, 4) replicate=(0)",
        "9 (block@0/block@1) onto (2, 4)",
        "16 (block@(1, 0)) onto (2, 4)",
        "9 (block@1/block@0) onto (2, 2)",
        "24 (cyclic(2)) onto (3)",
    ],
    through_dask: ["10x7 (gen_block(5, 3, 2), balanced) onto (3, 4)", "5 (gen_block(0, 5)) onto (2)", "scalar ()"],
    through_pencil: [
        "7x9x5 (balanced, balanced, *) onto (2, 4)",
        "7x9x5 (*, balanced@1, balanced@0) onto (2, 4)",
        "7x9 (balanced, *) onto (3)",
    ],
}


@pytest.mark.parametrize(
    ("through", "text"), [(through, text) for through, texts in MUST_EXPRESS.items() for text in texts], ids=argument_id
)
def test_layouts_that_must_be_expressed(through, text):
    layout = plait.Layout.parse(text)
    assert through(layout) == layout


@pytest.mark.parametrize(
    "text",
    [
        "4x4 (cyclic(3), block) onto (2, 2) template=9x8 align=(2*d0+1, d1)",
        "4x4 (cyclic(3), block) onto (2, 2) template=9x8 align=(-2*d1+7, d0)",
        "6x4 (cyclic(3), cyclic(2), cyclic) onto (2, 2, 2) template=14x8x3 align=(2*d0+1, *, 1)",
        "13x13 (cyclic(4), cyclic(3)) onto (2, 2) offset=(1, 2)",
    ],
)
def test_tables_of_aligned_layouts(text):
    check_table(plait.Layout.parse(text))


@given(layout=layouts())
@settings(max_examples=300)
def test_tables_equal_their_layouts(layout):
    check_table(layout)


def test_layouts_too_large_for_enumeration():
    layout = plait.Layout.parse("3000000000 (indirect(0*2, 1*3, 0, ...)) onto (2)")
    with pytest.raises(plait.ArgumentError, match="index by index"):
        dask.to_chunks(layout)
    large = plait.Layout.parse("3000000000000x5 (cyclic(7), *) onto (1000) order=F")
    assert through_scalapack(plait.Layout.parse("3000000000000x5 (cyclic(7), *) onto (10) order=F")).size == 10
    assert chunks.to_chunks(large) == (7, 5)


def check_table(layout):
    """Compare the table of a layout, which the notations use, with the layout element by element."""
    table = make_table(layout)
    entries = {}
    for position in np.ndindex(table.ranks.shape):
        sets = [d.indices(c).tolist() for d, c in zip(table.dimensions, position, strict=False)]
        assert table.ranks[position] not in entries
        entries[int(table.ranks[position])] = sets
    assert entries == owned_elements(layout)
    for dimension in table.dimensions:
        owners = dimension.owners()
        keys = [dimension.key(c) for c in range(dimension.coordinates)]
        assert len({key for key in keys if key}) == len(set(owners.tolist()))
        if dimension.cyclic is not None and dimension.coordinates > 1:
            block, source = dimension.cyclic
            assert owners.tolist() == [(source + i // block) % dimension.coordinates for i in range(dimension.size)]
        if dimension.sizes is not None:
            assert owners.tolist() == np.repeat(np.arange(dimension.coordinates), dimension.sizes).tolist()
        changes = (np.flatnonzero(np.diff(owners)) + 1).tolist()
        assert all(index % dimension.change_divisor == 0 for index in changes)
        assert dimension.change_divisor == (int(np.gcd.reduce(changes)) if changes else dimension.size)


@given(layout=layouts(dimensions=(1, 3)))
@settings(max_examples=100)
def test_chunks_have_one_owner_and_the_maximum_size(layout):
    chunk_sizes = chunks.to_chunks(layout)
    for d, (size, chunk) in enumerate(zip(layout.shape, chunk_sizes, strict=True)):
        owners = make_table(layout).dimensions[d].owners()

        def have_one_owner(length, owners=owners, size=size):
            return all(len(set(owners[i : i + length].tolist())) < 2 for i in range(0, size, length))

        assert have_one_owner(chunk)
        assert not any(have_one_owner(length) for length in range(chunk + 1, size + 1))
