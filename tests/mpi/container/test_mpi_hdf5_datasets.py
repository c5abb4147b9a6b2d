"""New HDF5 files with several datasets in chunks, written by all ranks."""

import numpy as np
import pytest
from same import expect_same_error

import plait

pytest.importorskip("h5py")

SHAPES = {"a": (120, 150), "g/b": (50, 37, 3), "c": (13,)}
PROPERTIES = {
    "a": {
        "dtype": "<f8",
        "chunks": (17, 40),
        "codec": "shuffle,gzip:1",
        "dimension_names": ("x", "y"),
        "unlimited": (1,),
    },
    "g/b": {"dtype": ">i2", "chunks": (7, 11, 2), "fill_value": -9, "attributes": {"units": "m"}},
    "c": {"dtype": "<i4", "unlimited": (0,)},
}


def make_descriptions() -> dict[str, dict]:
    return {name: {"shape": SHAPES[name], **properties} for name, properties in PROPERTIES.items()}


def make_array(name: str) -> np.ndarray:
    return np.random.default_rng(7).integers(0, 99, SHAPES[name]).astype(PROPERTIES[name]["dtype"])


@pytest.mark.parametrize("dist", ["block", "cyclic(3)"])
@pytest.mark.parametrize("memory", [0, 1 << 14])
@pytest.mark.parametrize("suffix", ["h5", "nc"])
def test_all_ranks_write_all_datasets(comm, shared, suffix, memory, dist):
    path = shared / f"a.{suffix}"
    with plait.open(
        path, "w", comm=comm, arrays=make_descriptions(), memory=memory, group_attributes={"": {"n": 1}}
    ) as file:
        for name in reversed(PROPERTIES):
            layout = plait.Layout(SHAPES[name], [dist, *["*"] * (len(SHAPES[name]) - 1)], grid=(comm.size,))
            file.write(np.ascontiguousarray(make_array(name)[layout.indices(comm.rank)[0]]), layout, variable=name)
        layout = plait.Layout(SHAPES["a"], [dist, "*"], grid=(comm.size,))
        local = file.read(layout, variable="a")
        np.testing.assert_array_equal(local, make_array("a")[layout.indices(comm.rank)[0]])
    for name in PROPERTIES:
        layout = plait.Layout(SHAPES[name], ["*"] * (len(SHAPES[name]) - 1) + ["block"], grid=(comm.size,))
        with plait.open(f"{path}::{name}", comm=comm) as file:
            local = file.read(layout)
            assert file.attrs.get("units") == ("m" if name == "g/b" else None)
        np.testing.assert_array_equal(local, make_array(name)[np.ix_(*layout.indices(comm.rank))])


def test_parts_of_chunks_by_several_ranks(comm, shared):
    """The ranks' parts end inside chunks; elements that no rank writes have the fill value."""
    path = shared / "a.h5"
    with plait.open(path, "w", comm=comm, arrays=make_descriptions()) as file:
        for value, region in enumerate((np.s_[3:44, 2:30], np.s_[10:12, :], np.s_[::5, 7:9]), 1):
            shape = np.empty(SHAPES["g/b"])[region].shape
            layout = plait.Layout(shape, ["block", *["*"] * (len(shape) - 1)], grid=(comm.size,))
            local = np.full(layout.local_shape(comm.rank), value, ">i2")
            file.write(local, layout, region=region, variable="g/b")
    expected = np.full(SHAPES["g/b"], -9, ">i2")
    for value, region in enumerate((np.s_[3:44, 2:30], np.s_[10:12, :], np.s_[::5, 7:9]), 1):
        expected[region] = value
    np.testing.assert_array_equal(plait.open(f"{path}::g/b").read(), expected)
    assert not plait.open(f"{path}::a").read().any()


def test_mistakes_are_errors_on_all_ranks(comm, shared):
    options = {"arrays": {"a": {"shape": (3, 3), "dtype": "f4", "attributes": {"x": {"nested": 1}}}}}
    expect_same_error(
        comm, lambda: plait.open(shared / "a.h5", "w", comm=comm, **options), plait.ArgumentError, "numbers and texts"
    )


@pytest.mark.parametrize("target", ["b.nc", "b.zarr", "b.h5"])
def test_copies_by_all_ranks(comm, shared, target):
    if comm.rank == 0:
        with plait.open(
            shared / "a.nc", "w", arrays=make_descriptions(), group_attributes={"g": {"n": [1, 2]}}
        ) as file:
            for name in PROPERTIES:
                file.write(make_array(name), variable=name)
    comm.barrier()
    plait.copy(shared / "a.nc", shared / target, comm=comm, codec="gzip:1", memory="256K")
    copied = {entry.name: entry for entry in plait.arrays_in(shared / target)}
    assert sorted(copied) == sorted(PROPERTIES)
    assert copied["a"].dimension_names == ("x", "y")
    assert copied["g/b"].attributes["units"] == "m"
    assert copied["g/b"].fill_value == -9
    groups = {group.name: group.attributes for group in plait.groups_in(shared / target)}
    assert groups["g"]["n"].tolist() == [1, 2]
    for name in PROPERTIES:
        np.testing.assert_array_equal(plait.open(f"{shared / target}::{name}").read(), make_array(name))
