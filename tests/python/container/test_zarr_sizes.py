"""The bytes that Zarr arrays occupy, which are counted on request."""

from pathlib import Path

import numpy as np
import zarr
from zarr_locations import zarr_store

import plait


def test_sizes_include_all_objects(location):
    path = location / "a.zarr"
    root = zarr.open_group(zarr_store(path), mode="w")
    for name in ("t", "group/inner/u", "group/v"):
        root.create_array(name, shape=(30, 40), chunks=(7, 9), dtype="i4")[...] = np.arange(1200).reshape(30, 40)
    assert {array.stored for array in plait.arrays_in(path)} == {None}
    sizes = {array.name: array.stored for array in plait.arrays_in(path, sizes=True)}
    group_sizes = {array.name: array.stored for array in plait.arrays_in(f"{path}::/group", sizes=True)}
    assert group_sizes == {name: size for name, size in sizes.items() if name.startswith("group/")}
    (info,) = plait.arrays_in(f"{path}::/group/inner/u", sizes=True)
    assert info.stored == group_sizes["group/inner/u"] > 0
    if isinstance(path, Path):
        for name, size in sizes.items():
            assert size == sum(entry.stat().st_size for entry in (path / name).rglob("*") if entry.is_file())


def test_the_size_of_a_single_array_is_counted(location):
    path = location / "b.zarr"
    with plait.open(path, "w", shape=(5, 6), dtype="f8") as file:
        file.write(np.ones((5, 6)))
    (info,) = plait.arrays_in(path, sizes=True)
    assert info.stored > 240
    assert plait.arrays_in(path)[0].stored is None
