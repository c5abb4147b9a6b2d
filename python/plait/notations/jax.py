"""JAX's shardings: a mesh with named axes, and a PartitionSpec that names the axes of each dimension."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from plait._calls.guard import entry

from .._base.errors import ArgumentError
from .._core import Layout
from ._make import Ranks, check_integers, make_error, make_layout_on_axes, rank_table
from ._mesh import complete_spec, find_mesh_axes, list_meshes
from ._table import Table, check_features, make_table

_NAME = "a NamedSharding"
_AXES = "xyzw"


class Spec(NamedTuple):
    """A sharding as plain data: the axes of each dimension, the sizes of the mesh's axes, and the mesh's device ids."""

    spec: tuple[str | tuple[str, ...] | None, ...]
    mesh: dict[str, int]
    devices: Ranks


@entry
def from_sharding(sharding: Any, shape: Sequence[int], *, order: str = "C") -> Layout:
    """Return the layout of an array of a shape under a NamedSharding; ranks are the ids of the devices.

    Raises ArgumentError for another kind of sharding, and in the same cases as `from_spec`.
    """
    if not (hasattr(sharding, "mesh") and hasattr(sharding, "spec")):
        raise ArgumentError(f"the sharding is a {type(sharding).__name__}; expected a NamedSharding")
    return from_spec(sharding.spec, shape, sharding.mesh, order=order)


@entry
def from_spec(spec: Sequence[Any], shape: Sequence[int], mesh: Any, devices: Any = None, *, order: str = "C") -> Layout:
    """Return the layout of a PartitionSpec on a mesh.

    spec     a PartitionSpec, or its entries: None, a mesh axis, or several, the major one first. Entries left out at
             the end are not sharded; the array is replicated along axes that are not named
    mesh     a Mesh or AbstractMesh, or a mapping of axis names to sizes, in order
    devices  ids of the devices by mesh position; default: those of the mesh, or 0, 1, 2, ...

    Raises ArgumentError for dimensions that do not divide evenly, as JAX does; for entries that are open
    (UNCONSTRAINED) and for unreduced axes.
    """
    sizes = check_integers(shape, "the shape")
    names, extents, ids = _read_mesh(mesh)
    table = rank_table(ids if devices is None else devices, extents, "devices")
    if pending := getattr(spec, "unreduced", None):
        raise ArgumentError(f"axes {sorted(pending)} are unreduced: sums are pending, which no layout says")
    dimensions: list[list[tuple[str, tuple[int, ...]]]] = []
    used: dict[str, int] = {}
    for d, spec_entry in enumerate(complete_spec(spec, len(sizes), "the spec")):
        axis_names = () if spec_entry is None else (spec_entry,) if isinstance(spec_entry, str) else spec_entry
        if not isinstance(axis_names, (tuple, list)) or not all(isinstance(axis_name, str) for axis_name in axis_names):
            raise ArgumentError(
                f"the spec of dimension {d} is {spec_entry!r}; expected None, an axis or a tuple of axes"
            )
        for axis_name in axis_names:
            if axis_name not in names:
                raise ArgumentError(f"the spec of dimension {d} names axis {axis_name!r}; the mesh has {list(names)}")
            if axis_name in used:
                raise ArgumentError(
                    f"axis {axis_name!r} is named for dimensions {used[axis_name]} and {d}; expected once at most"
                )
            used[axis_name] = d
        axes = tuple(names.index(axis_name) for axis_name in axis_names)
        parts = math.prod(extents[axis] for axis in axes)
        if sizes[d] % parts:
            raise ArgumentError(
                f"dimension {d} has {sizes[d]} indices for {parts} devices, and JAX shards evenly only; pad the array"
            )
        dimensions.append([("block", axes)] if axes else [])
    return make_layout_on_axes(sizes, dimensions, table, order=order)


@entry
def to_spec(layout: Layout, mesh: Any = None) -> Spec:
    """Return spec, mesh and device ids for a layout whose ranks are the ids of devices.

    mesh  a Mesh, or a mapping of axis names to sizes (devices 0, 1, 2, ...), on which to express the layout; default:
          the layout's own grid, with the axes x, y, z, w, axis4, ...

    Raises ArgumentError for layouts that are not distributed in equal blocks along mesh axes, for halos, and for memory
    orders other than C.
    """
    table = make_table(layout).by_index()
    check_features(_NAME, table, halo="shards do not overlap")
    if table.order != "C":
        raise make_error(_NAME, layout, f"its local arrays have order={table.order}, and JAX keeps that to itself")
    for d, dimension in enumerate(table.dimensions):
        if dimension.size % dimension.coordinates:
            raise make_error(
                _NAME,
                layout,
                f"the {dimension.size} indices of dimension {d} do not divide evenly by {dimension.coordinates}",
            )
    if mesh is not None:
        names, extents, ids = _read_mesh(mesh)
        result = _find_spec(table, names, rank_table(ids, extents, "devices"))
    else:
        result = next(filter(None, (_find_spec(table, None, ids) for ids in list_meshes(table, layout.spelling))), None)
    if result is None:
        raise make_error(_NAME, layout, "it is not distributed in blocks along the axes of the mesh")
    return result


def _find_spec(table: Table, names: tuple[str, ...] | None, ids: Ranks) -> Spec | None:
    """Return the spec on a mesh that describes the layout of a table; None if there is none."""
    axes = find_mesh_axes(_NAME, table, ids)
    if axes is None:
        return None
    if names is None:
        names = tuple(_AXES[axis] if axis < len(_AXES) else f"axis{axis}" for axis in range(ids.ndim))
    axis_names = [tuple(names[axis] for axis in dimension_axes) for dimension_axes in axes]
    spec = tuple(None if not group else group[0] if len(group) == 1 else group for group in axis_names)
    result = Spec(spec, dict(zip(names, map(int, ids.shape), strict=True)), ids)
    return result if from_spec(result.spec, table.shape, result.mesh, ids) == table.layout else None


@entry
def to_sharding(layout: Layout, mesh: Any = None) -> Any:
    """Return the NamedSharding of a layout, on a Mesh, or on one of the devices whose ids are its ranks."""
    import jax

    sharding: Any = jax.sharding
    spec = to_spec(layout, mesh)
    if mesh is None or isinstance(mesh, Mapping):
        by_id = {device.id: device for device in jax.devices()}
        missing = [rank for rank in spec.devices.ravel().tolist() if rank not in by_id]
        if missing:
            raise make_error(_NAME, layout, f"there is no device of id {missing[0]}; JAX has {sorted(by_id)}")
        devices = np.empty(spec.devices.shape, dtype=object)
        for position in np.ndindex(devices.shape):
            devices[position] = by_id[int(spec.devices[position])]
        mesh = sharding.Mesh(devices, tuple(spec.mesh))
    return sharding.NamedSharding(mesh, sharding.PartitionSpec(*spec.spec))


def _read_mesh(mesh: Any) -> tuple[tuple[str, ...], tuple[int, ...], Any]:
    """Return names and sizes of the axes, and the device ids, or None if the mesh has no devices."""
    if isinstance(mesh, Mapping):
        return tuple(mesh), check_integers(mesh.values(), "the mesh", minimum=1), None
    if not hasattr(mesh, "axis_names"):
        raise ArgumentError(f"the mesh is {mesh!r}; expected a Mesh, or a mapping of axis names to sizes")
    names = tuple(mesh.axis_names)
    try:
        devices = mesh.devices
    except (AttributeError, ValueError):  # an AbstractMesh has none
        return names, tuple(int(mesh.shape[name]) for name in names), None
    ids = np.array([device.id for device in devices.ravel()], dtype=np.int64).reshape(devices.shape)
    return names, tuple(map(int, devices.shape)), ids
