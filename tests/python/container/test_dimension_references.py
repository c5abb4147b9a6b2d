"""Dimension scales attached by the references of HDF5 1.12, which some builds of HDF5's library write."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")


class Sequence(ctypes.Structure):
    """hvl_t: a sequence of any length."""

    _fields_ = (("count", ctypes.c_size_t), ("elements", ctypes.c_void_p))


def find_hdf5_library() -> ctypes.CDLL:
    """Return the HDF5 library that h5py has loaded; skip the test if it is older than HDF5 1.12."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split()[-1]
        if "h5py" in path and "/libhdf5-" in path:
            hdf5 = ctypes.CDLL(path)
            if hasattr(hdf5, "H5Rcreate_object"):
                for name in ("H5Tvlen_create", "H5Screate_simple", "H5Acreate2"):
                    getattr(hdf5, name).restype = ctypes.c_int64
                return hdf5
    pytest.skip("h5py has no HDF5 1.12 or later of its own")


def attach_scales(dataset: object, names: list[str], file: str | None = None) -> None:
    """Attach one scale to each dimension; an empty name attaches none.

    file  the file of the scales, if it is not that of the dataset
    """
    hdf5, dataset_id = find_hdf5_library(), ctypes.c_int64(dataset.id.id)
    scale_file = None if file is None else h5py.h5f.open(file.encode())
    owner = dataset_id if scale_file is None else ctypes.c_int64(scale_file.id)
    references = [ctypes.create_string_buffer(64) for _ in names]
    sequences = (Sequence * len(names))()
    for name, reference, sequence in zip(names, references, sequences, strict=True):
        if name:
            assert hdf5.H5Rcreate_object(owner, name.encode(), ctypes.c_int64(0), reference) >= 0
            sequence.count, sequence.elements = 1, ctypes.addressof(reference)
    type_ = ctypes.c_int64(hdf5.H5Tvlen_create(ctypes.c_int64(ctypes.c_int64.in_dll(hdf5, "H5T_STD_REF_g").value)))
    space = ctypes.c_int64(hdf5.H5Screate_simple(1, (ctypes.c_uint64 * 1)(len(names)), None))
    default = ctypes.c_int64(0)  # H5P_DEFAULT
    attribute = ctypes.c_int64(hdf5.H5Acreate2(dataset_id, b"DIMENSION_LIST", type_, space, default, default))
    assert attribute.value >= 0
    assert hdf5.H5Awrite(attribute, type_, sequences) >= 0
    for close, handle in (("H5Aclose", attribute), ("H5Sclose", space), ("H5Tclose", type_)):
        assert getattr(hdf5, close)(handle) >= 0


def test_scales_attached_by_newer_references_name_the_dimensions(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["g/lat"], file["lon"] = np.arange(3.0), np.arange(4.0)
        file["lat/none"] = np.arange(3.0)
        for name in ("g/lat", "lon"):
            file[name].make_scale()
        field = file.create_dataset("g/t", data=np.ones((3, 5, 4)))
        attach_scales(field, ["/g/lat", "", "/lon"])
    names = {info.name: info.dimension_names for info in plait.arrays_in(tmp_path / "a.h5")}
    assert names["g/t"] == ("lat", "", "lon")
    plait.copy(tmp_path / "a.h5", tmp_path / "b.zarr")
    assert {info.name: info.dimension_names for info in plait.arrays_in(tmp_path / "b.zarr")}["g/t"] == (
        "lat",
        "",
        "lon",
    )


def test_references_into_other_files_are_not_followed(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["lat"] = np.arange(3.0)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        attach_scales(file.create_dataset("t", data=np.ones(3)), ["/lat"], str(tmp_path / "other.h5"))
    (info,) = plait.arrays_in(tmp_path / "a.h5")
    assert info.dimension_names == ()
    assert not info.error
