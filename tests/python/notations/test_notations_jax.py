"""JAX's shardings: JAX's own index maps, and specs as plain data."""

import math
import os
import sys

import pytest

import plait
from plait.notations import jax as notation

# JAX reads this variable when it starts its CPU devices, at their first use.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
os.environ.setdefault("JAX_PLATFORMS", "cpu")


@pytest.fixture(scope="module")
def jax():
    module = pytest.importorskip("jax", reason="jax is not installed")
    if len(module.devices()) < 8:
        pytest.skip(f"JAX was started with {len(module.devices())} devices before, and this needs 8")
    return module


def as_slices(layout, rank):
    """Return the elements that a rank owns as slices."""
    sets = layout.indices(rank)
    for indices in sets:
        assert indices[-1] - indices[0] + 1 == len(indices)
    return tuple((int(owned[0]), int(owned[-1]) + 1) for owned in sets)


SPECS = [
    ((2, 4), ("x", "y"), (8, 12), ("x", "y")),
    ((2, 4), ("x", "y"), (8, 12), ("y", "x")),
    ((2, 4), ("x", "y"), (8, 12), (None, "y")),
    ((2, 4), ("x", "y"), (8, 12), (("x", "y"),)),
    ((2, 4), ("x", "y"), (8, 12), (("y", "x"), None)),
    ((2, 2, 2), ("a", "b", "c"), (8, 12, 4), (("c", "a"), None, "b")),
    ((2, 2, 2), ("a", "b", "c"), (8, 12, 4), ("b", ("a",))),
    ((8,), ("x",), (8, 12), ()),
    ((2, 1, 4), ("x", "one", "y"), (8, 12), (("x", "one"), "y")),
]


@pytest.mark.parametrize(("mesh", "names", "shape", "spec"), SPECS)
@pytest.mark.parametrize("shift", [0, 3])  # of the devices in the mesh
def test_shardings_against_jax(jax, mesh, names, shape, spec, shift):
    import numpy as np

    devices = np.roll(np.array(jax.devices()[:8]), shift).reshape(mesh)
    sharding = jax.sharding.NamedSharding(jax.sharding.Mesh(devices, names), jax.sharding.PartitionSpec(*spec))
    layout = notation.from_sharding(sharding, shape)
    for device, slices in sharding.devices_indices_map(shape).items():
        expected = tuple(part.indices(size)[:2] for part, size in zip(slices, shape, strict=True))
        assert as_slices(layout, device.id) == expected
    for given_mesh in (None, sharding.mesh):
        back = notation.to_sharding(layout, given_mesh)
        assert back.devices_indices_map(shape) == sharding.devices_indices_map(shape)
    assert notation.to_sharding(layout, sharding.mesh).is_equivalent_to(sharding, len(shape))


def test_layouts_equal_the_shards_of_jax_arrays(jax):
    import numpy as np

    layout = plait.Layout.parse("8x12 (block, block) onto (2, 4) ranks=F")
    array = jax.device_put(np.arange(96).reshape(8, 12), notation.to_sharding(layout))
    assert notation.from_sharding(array.sharding, array.shape) == layout
    for shard in array.addressable_shards:
        index = np.ix_(*layout.indices(shard.device.id))
        np.testing.assert_array_equal(np.asarray(shard.data), np.arange(96).reshape(8, 12)[index])
    single = jax.device_put(np.arange(8))
    with pytest.raises(plait.ArgumentError, match="expected a NamedSharding"):
        notation.from_sharding(single.sharding, single.shape)
    with pytest.raises(plait.ArgumentError, match="no device of id 64"):
        notation.to_sharding(plait.Layout.parse("8 (block) onto (2) ranks=(0, 64)"))
    unconstrained = jax.sharding.PartitionSpec(jax.sharding.PartitionSpec.UNCONSTRAINED)
    with pytest.raises(plait.ArgumentError, match="the spec of dimension 0"):
        notation.from_spec(unconstrained, (8,), {"x": 2})
    abstract = jax.sharding.AbstractMesh((2, 4), ("x", "y"))
    spec = jax.sharding.PartitionSpec("y")
    assert notation.from_spec(spec, (8, 2), abstract) == notation.from_spec(("y",), (8, 2), {"x": 2, "y": 4})


@pytest.mark.parametrize(("mesh", "names", "shape", "spec"), SPECS)
def test_specs_as_plain_data_round_trip(mesh, names, shape, spec):
    sizes = dict(zip(names, mesh, strict=True))
    layout = notation.from_spec(spec, shape, sizes)
    parts = 1
    for d, entry in enumerate(spec):
        axes = () if entry is None else (entry,) if isinstance(entry, str) else entry
        count = math.prod(sizes[axis] for axis in axes)
        parts *= count
        assert layout.local_shape(0)[d] == shape[d] // count
    assert layout.size == math.prod(mesh)
    assert layout.replicas * parts == layout.size
    named_spec = notation.to_spec(layout, sizes)
    assert named_spec.mesh == sizes
    assert notation.from_spec(named_spec.spec, shape, named_spec.mesh, named_spec.devices) == layout


def test_the_major_axis_comes_first():
    layout = notation.from_spec((("y", "x"),), (8,), {"x": 2, "y": 4})
    # Position (x, y) of the mesh is rank 4 x + y and owns part 2 y + x.
    assert [layout.indices(rank)[0].tolist() for rank in range(8)] == [[2 * (r % 4) + r // 4] for r in range(8)]
    assert notation.to_spec(layout).spec == (("y", "x"),)
    assert notation.to_spec(layout, {"p": 2, "q": 4}).spec == (("q", "p"),)


@pytest.mark.parametrize(
    ("spec", "shape", "mesh", "reason"),
    [
        (("x",), (9,), {"x": 2}, "9 indices for 2 devices"),
        (("z",), (8,), {"x": 2}, "names axis 'z'"),
        (("x", "x"), (8, 8), {"x": 2}, "named for dimensions 0 and 1"),
        (("x", None), (8,), {"x": 2}, "has length 2, but the array has 1"),
        ((3,), (8,), {"x": 2}, "the spec of dimension 0 is 3"),
        (("x",), (8,), 2, "the mesh is 2"),
    ],
)
def test_invalid_specs_are_errors(spec, shape, mesh, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        notation.from_spec(spec, shape, mesh)
    with pytest.raises(plait.ArgumentError, match="devices"):
        notation.from_spec((), (8,), {"x": 2}, [0, 0])


@pytest.mark.parametrize(
    ("text", "mesh", "reason"),
    [
        ("9 (block) onto (2)", None, "do not divide evenly"),
        ("8 (cyclic) onto (2)", None, "not distributed in blocks"),
        ("8 (gen_block(5, 3)) onto (2)", None, "not distributed in blocks"),
        ("8x8 (block, *) onto (2) order=F", None, "order=F"),
        ("8x8 (block, *) onto (2) halo=(1, 0)", None, "halos"),
        ("8x8 (block, block) onto (2, 2)", {"x": 4}, "along the axes"),
        ("8x8 (block, block) onto (2, 2)", {"x": 2, "y": 3}, "other ranks"),
    ],
)
def test_layouts_outside_the_notation_are_rejected(text, mesh, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        notation.to_spec(plait.Layout.parse(text), mesh)


def test_importing_the_notations_imports_no_package():
    import subprocess

    code = "import sys, plait.notations; print({'jax', 'torch', 'dask', 'zarr', 'h5py', 'mpi4py'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"
