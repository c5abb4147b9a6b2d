"""Files read and written in layouts with all features of the notation, compared with the model (package oracle)."""

import math

import numpy as np
import pytest
from brute_force import make_distinct_array
from hypothesis import given, note
from hypothesis import strategies as st
from oracle.library import make_layout
from oracle.model import Model
from oracle.moves import expected_local, make_locals
from oracle.notation import to_text
from oracle.strategies import examples, shapes, specs

import plait

OPTIONS = st.fixed_dictionaries(
    {},
    optional={"strategy": st.sampled_from(["direct", "two-phase"]), "memory": st.sampled_from([4096, 1 << 20])},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("oracle")


@given(data=st.data())
@examples(150)
def test_random_layouts_are_read(folder, data):
    shape = data.draw(shapes())
    spec = data.draw(specs(shape))
    fill, order, options = data.draw(st.booleans()), data.draw(st.sampled_from("CF")), data.draw(OPTIONS)
    note(f"{to_text(spec)}\nfill_halo={fill} file order={order} {options}")
    model = Model(spec)
    global_array = make_distinct_array(shape, data.draw(st.sampled_from(["f8", "i2", "S3"])))
    path = folder / "read.npy"
    np.save(path, np.asarray(global_array, order=order))
    filler = b"##" if global_array.dtype.kind == "S" else 99
    untouched_parts = [model.make_filled_array(rank, global_array.dtype, filler) for rank in model.rank_numbers]
    out = [array.copy(order="K") for array in untouched_parts]
    with plait.open(path, **options) as file:
        file.read(make_layout(spec), out=out, fill_halo=fill)
        new = file.read(make_layout(spec), fill_halo=fill)
    new = new if isinstance(new, list) else [new]
    for rank, local, fresh, untouched in zip(model.rank_numbers, out, new, untouched_parts, strict=True):
        np.testing.assert_array_equal(local, expected_local(model, rank, global_array, untouched, fill))
        np.testing.assert_array_equal(fresh, expected_local(model, rank, global_array, fresh, fill))


@given(data=st.data())
@examples(120)
def test_random_layouts_are_written(folder, data):
    shape = data.draw(shapes())
    spec = data.draw(specs(shape))
    order, options = data.draw(st.sampled_from("CF")), data.draw(OPTIONS)
    note(f"{to_text(spec)}\nfile order={order} {options}")
    model = Model(spec)
    global_array = make_distinct_array(shape)
    parts = make_locals(model, global_array, -1)
    # Only replica 0 is written; the values of the others must not reach the file.
    for rank, array in zip(model.rank_numbers, parts, strict=True):
        if model.parts[rank].replica:
            array[...] = -2
    path = folder / "write.npy"
    with plait.open(path, "w", shape=shape, dtype=global_array.dtype, order=order, **options) as file:
        file.write(parts, make_layout(spec))
    actual = np.load(path)
    np.testing.assert_array_equal(actual, global_array)
    assert actual.flags.f_contiguous if order == "F" else actual.flags.c_contiguous


@given(data=st.data())
@examples(100)
def test_regions_are_written_and_read_back(folder, data):
    shape = data.draw(shapes(min_dimensions=1))
    begins = [data.draw(st.integers(0, n)) for n in shape]
    region = tuple(slice(begin, data.draw(st.integers(begin, n))) for begin, n in zip(begins, shape, strict=True))
    global_array = make_distinct_array(shape)
    spec, other = data.draw(specs(global_array[region].shape)), data.draw(specs(global_array[region].shape))
    note(f"{to_text(spec)}\n{to_text(other)}\n{shape} {region}")
    path = folder / "region.npy"
    np.save(path, np.zeros(shape))
    target = Model(other)
    out = [target.make_filled_array(rank, global_array.dtype, 99) for rank in target.rank_numbers]
    untouched_parts = [array.copy() for array in out]
    with plait.open(path, "r+") as file:
        file.write(make_locals(Model(spec), global_array[region], -1), make_layout(spec), region=region)
        file.read(make_layout(other), out=out, region=region, fill_halo=True)
    expected = np.zeros(shape)
    expected[region] = global_array[region]
    np.testing.assert_array_equal(np.load(path), expected)
    for rank, local, untouched in zip(target.rank_numbers, out, untouched_parts, strict=True):
        np.testing.assert_array_equal(local, expected_local(target, rank, global_array[region], untouched, True))


def test_nonblocking_accesses_have_the_same_results(folder):
    layout = plait.Layout.parse("6x4 (cyclic(2), *) onto (2, 2) replicate=(1) ranks=(7, 1, 4, 2) halo=(0, 1)")
    ranks = [1, 2, 4, 7]
    assert layout.rank_numbers.tolist() == ranks
    global_array = np.arange(24, dtype=np.int32).reshape(6, 4)
    rows = {1: [0, 1, 4, 5], 7: [0, 1, 4, 5], 2: [2, 3], 4: [2, 3]}
    parts = [np.pad(global_array[rows[rank]], ((0, 0), (1, 1)), constant_values=-1) for rank in ranks]
    path = folder / "raw.bin"
    with plait.open(path, "w", shape=(6, 4), dtype=np.int32) as file:
        file.iwrite(parts, layout).wait()
    assert path.stat().st_size == math.prod((6, 4)) * 4
    np.testing.assert_array_equal(np.fromfile(path, np.int32).reshape(6, 4), global_array)
    with plait.open(path, shape=(6, 4), dtype=np.int32) as file:
        actual = file.iread(layout, fill_halo=False).wait()
    for rank, array in zip(ranks, actual, strict=True):
        np.testing.assert_array_equal(array[:, 1:-1], global_array[rows[rank]])
