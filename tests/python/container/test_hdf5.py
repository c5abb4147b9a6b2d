"""HDF5: Plait reads files of h5py, stored directly or compressed, and reports the position of damage."""

import os
import subprocess
import sys
import zlib
from ctypes.util import find_library
from pathlib import Path

import numpy as np
import pytest
from array_reads import check_parts, open_error_text
from hdf5_files import CHUNK, SHAPE, make_array, write_dataset

import plait

h5py = pytest.importorskip("h5py")


# The numbers under which the HDF Group has registered these filters.
LZ4, ZSTD = 32004, 32015


def check_array(url: object, array: np.ndarray) -> None:
    with plait.open(url) as file:
        assert (file.shape, file.dtype, file.order) == (array.shape, array.dtype, "C")
        if array.ndim == 3:
            check_parts(file, array)
        else:
            np.testing.assert_array_equal(file.read(), array)


@pytest.mark.parametrize(
    "dtype", ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "S5", "V3"]
)
@pytest.mark.parametrize("endian", ["<", ">"])
@pytest.mark.parametrize("chunks", [None, CHUNK])
def test_all_types_and_byte_orders_are_read(tmp_path, dtype, endian, chunks):
    array = make_array("u1").astype("S5").astype(dtype) if dtype in ("S5", "V3") else make_array(dtype)
    array = array.astype(np.dtype(dtype).newbyteorder(endian))
    check_array(write_dataset(tmp_path / "a.h5", array, chunks=chunks), array)


def test_enumerations_are_numbers_and_bfloat16_bytes(tmp_path):
    array = make_array("i2")
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("e", data=array, dtype=h5py.enum_dtype({"RED": 0, "BLUE": 9}, basetype=">i2"))
        # bfloat16: the sign in bit 15, 8 bits of exponent from bit 7 on with the bias 127, and 7 bits of mantissa.
        type_ = h5py.h5t.IEEE_F16LE.copy()
        type_.set_fields(15, 7, 8, 0, 7)
        type_.set_ebias(127)
        space = h5py.h5s.create_simple((3,))
        h5py.h5d.create(file.id, b"bfloat16", type_, space).write(
            space, space, np.array([1, 2.5, -3], "f4"), mtype=h5py.h5t.NATIVE_FLOAT
        )
    check_array(f"{tmp_path}/a.h5::e", array.astype(">i2"))
    np.testing.assert_array_equal(plait.open(f"{tmp_path}/a.h5::bfloat16").read().view(bfloat16), [1, 2.5, -3])


@pytest.mark.sampled(60)
@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize(
    "filters",
    [
        {}, {"compression": "gzip"}, {"compression": "gzip", "compression_opts": 9, "shuffle": True},
        {"shuffle": True}, {"fletcher32": True}, {"compression": "lzf"},
        {"compression": "lzf", "shuffle": True, "fletcher32": True},
        {"compression": "gzip", "shuffle": True, "fletcher32": True},
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["f4", ">i8", "i2", "S3"])
@pytest.mark.parametrize("maxshape", [None, (None, 20, 10), (None, None, None)])
def test_chunks_of_every_kind_are_read(tmp_path, libver, filters, dtype, maxshape):
    """Read each kind of index that the library has, and chunks that do not divide the shape."""
    array = make_array(dtype)
    path = write_dataset(tmp_path / "a.h5", array, chunks=CHUNK, libver=libver, maxshape=maxshape, **filters)
    check_array(path, array)


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (5000,), (300, 200)])
@pytest.mark.parametrize("chunked", [False, True])
def test_all_shapes_are_read(tmp_path, shape, chunked):
    array = make_array("f8", shape)
    if chunked and not shape:
        return
    options = (
        {"chunks": tuple(max(1, n // 3) for n in shape), "maxshape": tuple(None for _ in shape)} if chunked else {}
    )
    check_array(write_dataset(tmp_path / "a.hdf5", array, **options), array)


def test_missing_chunks_have_the_fill_value(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, value in (("a", 2.5), ("b", np.nan), ("c", 0)):
            stored = file.create_dataset(name, SHAPE, ">f8", chunks=CHUNK, fillvalue=value, compression="gzip")
            stored[5:6, 3:5] = 1
        file.create_dataset("none", SHAPE, "i4", fillvalue=-7)
        file.create_dataset("zero", SHAPE, "i4")
    with h5py.File(tmp_path / "a.h5") as file:
        expected = {name: file[name][...] for name in file}
    for name, array in expected.items():
        check_array(f"{tmp_path}/a.h5::{name}", array)


def test_compact_datasets_and_files_with_user_blocks_are_read(tmp_path):
    array = make_array("i4")
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=1024) as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        small = h5py.h5d.create(file.id, b"compact", h5py.h5t.STD_I32BE, h5py.h5s.create_simple(SHAPE), plist)
        h5py.Dataset(small)[...] = array
        file["whole"] = array
        file.create_dataset("chunked", data=array, chunks=CHUNK)
        file.create_dataset("packed", data=array, chunks=CHUNK, compression="gzip")
    check_array(f"{tmp_path}/a.h5::compact", array.astype(">i4"))
    for name in ("whole", "chunked", "packed"):
        check_array(f"{tmp_path}/a.h5::{name}", array)


def test_incompressible_chunks_are_stored_without_filters(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        stored = file.create_dataset("a", (8, 4), "u1", chunks=(4, 4), compression="gzip", shuffle=True)
        stored.id.write_direct_chunk((0, 0), bytes(range(16)), filter_mask=3)
        stored.id.write_direct_chunk((4, 0), zlib.compress(bytes(range(16, 32))), filter_mask=1)
    check_array(tmp_path / "a.h5", np.arange(32, dtype="u1").reshape(8, 4))


def test_zstd_chunks_are_read(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    array = make_array("f4", (8, 6))
    while h5py.h5pl.size():  # the filter of netCDF4 would check the invalid filter parameters
        h5py.h5pl.remove(0)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((4, 6))
        plist.set_filter(ZSTD, h5py.h5z.FLAG_OPTIONAL, (7,))
        space = h5py.h5s.create_simple(array.shape)
        stored = h5py.h5d.create(file.id, b"a", h5py.h5t.IEEE_F32LE, space, plist)
        for first in (0, 4):
            stored.write_direct_chunk((first, 0), zstandard.compress(array[first : first + 4].tobytes()))
    check_array(tmp_path / "a.h5", array)
    assert plait.arrays_in(tmp_path / "a.h5")[0].storage == "chunks 4x6, zstd 7"


def test_lz4_chunks_are_read(tmp_path):
    """Read three blocks of 16 bytes: uncompressed, as literals only, and as repeated literals."""
    plain = bytes(range(16)) * 2 + b"abcd" * 4
    # A token encodes the number of literals and the number of repeated bytes minus 4; the last 5 bytes are literals.
    blocks = [plain[:16], b"\xf0\x01" + plain[16:32], b"\x43abcd\x04\x00\x50dabcd"]
    compressed = (48).to_bytes(8, "big") + (16).to_bytes(4, "big")
    compressed += b"".join(len(block).to_bytes(4, "big") + block for block in blocks)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((48,))
        plist.set_filter(LZ4, h5py.h5z.FLAG_OPTIONAL, (16,))
        space = h5py.h5s.create_simple((96,))
        stored = h5py.h5d.create(file.id, b"a", h5py.h5t.STD_U8LE, space, plist)
        stored.write_direct_chunk((0,), compressed)
        stored.write_direct_chunk((48,), compressed[:-1])
    with plait.open(tmp_path / "a.h5") as file:
        assert file.read(region=np.s_[:48]).tobytes() == plain
        with pytest.raises(plait.StoreError, match=r"chunk \(1\) .*more than there are"):
            file.read(region=np.s_[48:])
    assert plait.arrays_in(tmp_path / "a.h5")[0].storage.endswith("chunks 48, lz4")


WRITE_BLOSC = """
import ast
import sys

import h5py

with h5py.File(sys.argv[1], "w") as file:
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((4, 6))
    plist.set_filter(32001, h5py.h5z.FLAG_OPTIONAL, (2, 2, 4, 96, 5, 1, 1))
    stored = h5py.h5d.create(file.id, b"a", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((8, 6)), plist)
    for first, chunk in zip((0, 4), ast.literal_eval(sys.argv[2])):
        stored.write_direct_chunk((first, 0), chunk)
"""


def test_blosc_chunks_are_read(tmp_path):
    blosc = pytest.importorskip("numcodecs.blosc")
    if find_library("blosc") is None:
        pytest.skip("no libblosc")
    array = make_array("f4", (8, 6))
    codec = blosc.Blosc(cname="lz4", shuffle=blosc.SHUFFLE)
    chunks = [bytes(codec.encode(array[first : first + 4].copy())) for first in (0, 4)]
    # This runs in a process without netCDF4, whose filter of this number would check the invalid parameters.
    environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    subprocess.run([sys.executable, "-c", WRITE_BLOSC, tmp_path / "a.h5", repr(chunks)], env=environment, check=True)
    check_array(tmp_path / "a.h5", array)


def test_groups_and_links_are_followed(tmp_path):
    path = tmp_path / "a.h5"
    arrays = {"t": make_array("f4"), "group/inner/u": make_array("i2"), "group/v": make_array("f8", (3, 4, 5))}
    write_dataset(tmp_path / "other.h5", make_array("i1"))
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, chunks=(2, 2, 2), compression="gzip")
        file["group/soft"] = h5py.SoftLink("/group/inner/u")
        file["group/loop"] = file["/"]
        file["group/zzz"] = file["t"]
        file["out"] = h5py.ExternalLink("other.h5", "/a")
        file["nowhere"] = h5py.SoftLink("/missing")
    infos = {info.name: info for info in plait.arrays_in(path)}
    assert len(infos) == 4
    assert {"group/inner/u", "group/v", "out"} < set(infos)
    for name, array in arrays.items():
        check_array(f"{path}::/{name}", array)
        check_array(f"{path}::{name}", array)
    check_array(f"{path}::/group/soft", arrays["group/inner/u"])
    check_array(f"{path}::/group/zzz", arrays["t"])
    assert "holds 4 arrays: group/inner/u, group/v" in open_error_text(plait.ArgumentError, path)
    assert "is a group; " in open_error_text(plait.ArgumentError, f"{path}::/group")
    check_array(f"{path}::/out", make_array("i1"))
    assert "is not there; " in open_error_text(plait.ArgumentError, f"{path}::/nowhere")
    plait.copy(path, tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz") as archive:
        assert set(archive) == set(infos)
    plait.copy(f"{path}::/group/v", tmp_path / "v.npy", memory="8K")
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), arrays["group/v"])


def test_unsupported_objects_are_listed_with_a_reason(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("record", (3,), [("x", "f8"), ("n", h5py.vlen_dtype("i4"))])
        file.create_dataset("ragged", (3,), h5py.vlen_dtype("i4"))
        file.create_dataset("reference", (3,), h5py.ref_dtype)
        file.create_dataset("arrays", (3,), np.dtype((h5py.ref_dtype, (2,))))
        file.create_dataset("null", data=h5py.Empty("f4"))
        file.create_dataset("outside", (8,), "u1", external=[("a.bin", 0, 8)])
        file["good"] = make_array("f4")
    reasons = {
        "record": "its elements are records (x, n), and its member n is of the type VLEN",
        "ragged": "sequences of any length",
        "reference": "references to other objects",
        "arrays": "references to other objects",
        "null": "it has no shape",
        "outside": "a.bin, which is missing",
        "good": "",
    }
    infos = {info.name: info.error for info in plait.arrays_in(tmp_path / "a.h5")}
    assert infos.keys() == reasons.keys()
    for name, reason in reasons.items():
        assert reason in infos[name]
        if reason:
            assert reason in open_error_text(plait.ArgumentError, f"{tmp_path}/a.h5::{name}")
    check_array(f"{tmp_path}/a.h5::good", make_array("f4"))


def test_elements_are_changed_in_place(tmp_path):
    array = make_array("f4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["whole"] = array
        file.create_dataset("chunked", data=array, chunks=CHUNK)
    for name in ("whole", "chunked"):
        with plait.open(f"{tmp_path}/a.h5::{name}", "r+") as file:
            file.write(-array[2:9:2, :, 3], region=np.s_[2:9:2, :, 3])
            layout = plait.Layout((13, 7), "(cyclic, block)", grid=(2, 2))
            file.write(
                [np.full(layout.local_shape(rank), rank, "f4") for rank in range(4)], layout, region=np.s_[:, :, 5]
            )
    expected = array.copy()
    expected[2:9:2, :, 3] *= -1
    for rank in range(4):
        expected[:, :, 5][np.ix_(*layout.indices(rank))] = rank
    with h5py.File(tmp_path / "a.h5") as file:
        for name in file:
            np.testing.assert_array_equal(file[name], expected)


def find_chunk(path: Path, number: int) -> tuple[int, int]:
    """Return the offset and the size of a chunk in the file."""
    with h5py.File(path) as file:
        info = file["a"].id.get_chunk_info(number)
    return info.byte_offset, info.size


@pytest.mark.parametrize("filters", [{"compression": "gzip"}, {"fletcher32": True}, {"compression": "lzf"}])
def test_damaged_chunks_are_errors(tmp_path, filters):
    array = make_array("f4")
    path = write_dataset(tmp_path / "a.h5", array, chunks=CHUNK, **filters)
    offset, size = find_chunk(path, 4)
    intact = path.read_bytes()
    for data in (
        b"\x01" * size,
        intact[offset : offset + size][::-1],
        intact[offset : offset + size // 2] + bytes(size - size // 2),
    ):
        path.write_bytes(intact[:offset] + data + intact[offset + size :])
        text = open_error_text(plait.StoreError, path)
        assert f"cannot read chunk (1, 1, 0) of {path} at offset {offset}: " in text
        np.testing.assert_array_equal(plait.open(path).read(region=np.s_[0]), array[0])


def test_decompression_bombs_are_bounded_by_the_chunk(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        stored = file.create_dataset("a", (8, 4), "u1", chunks=(4, 4), compression="gzip", shuffle=True)
        stored.id.write_direct_chunk((0, 0), zlib.compress(bytes(50 << 20), 9))
        stored.id.write_direct_chunk((4, 0), zlib.compress(bytes(15), 9))
    assert "more than what it holds, 16" in open_error_text(plait.StoreError, tmp_path / "a.h5")
    with plait.open(tmp_path / "a.h5") as file, pytest.raises(plait.StoreError, match=r"chunk \(1, 0\).* 15 bytes"):
        file.read(region=np.s_[4:])


def test_truncated_files_are_errors(tmp_path):
    array = make_array("f4", (40, 50))
    for options in ({}, {"chunks": (7, 9)}, {"chunks": (7, 9), "compression": "gzip"}):
        path = write_dataset(tmp_path / "a.h5", array, **options)
        intact = path.read_bytes()
        for length in (0, 7, 8, 100, 600, len(intact) // 2, len(intact) - 1):
            path.write_bytes(intact[:length])
            assert str(path) in open_error_text(plait.StoreError, path)


def test_files_open_for_writing_in_this_process_are_errors(tmp_path):
    path = write_dataset(tmp_path / "a.h5", make_array("f4"))
    with h5py.File(path, "r+"):
        assert "is open for writing in this process" in open_error_text(plait.StoreError, path)
    with h5py.File(path):
        check_array(path, make_array("f4"))


def test_the_content_decides_the_format(tmp_path):
    path = write_dataset(tmp_path / "a.h5", make_array("f4"))
    for ending in ("hdf5", "he5", "nc4", "nc"):
        os.link(path, tmp_path / f"a.{ending}")
        check_array(tmp_path / f"a.{ending}", make_array("f4"))
    (tmp_path / "b.h5").write_bytes(bytes(1000))
    assert "cannot be opened as an HDF5 file" in open_error_text(plait.StoreError, tmp_path / "b.h5")
    os.link(path, tmp_path / "a.npz")
    check_array(tmp_path / "a.npz", make_array("f4"))
    with pytest.raises(FileNotFoundError):
        plait.open(tmp_path / "missing.h5::/a")
    assert "holds an array 13x7x10, but the shape 3" in open_error_text(plait.ArgumentError, path, shape=(3,))
    (info,) = plait.arrays_in(path)
    assert (info.element, info.storage, info.stored) == ("IEEE_F32LE", "contiguous", 13 * 7 * 10 * 4)


def test_plait_reads_files_of_netcdf(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    array = make_array("f4")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        for name, length in (("time", None), ("y", 7), ("x", 10)):
            file.createDimension(name, length)
        packed = {"zlib": True, "complevel": 2, "fletcher32": True, "chunksizes": (4, 3, 10), "fill_value": -1}
        file.createVariable("t2m", "f4", ("time", "y", "x"), **packed)[:13] = array
        file.createVariable("y", "f8", ("y",))[:] = np.arange(7)
        file.createGroup("more").createVariable("u", ">i4", ("x",), endian="big")[:] = np.arange(10)
    assert [info.name for info in plait.arrays_in(tmp_path / "a.nc")] == ["t2m", "y", "more/u"]  # as created
    named = {info.name: info.dimension_names for info in plait.arrays_in(tmp_path / "a.nc")}
    assert named == {"more/u": ("x",), "t2m": ("time", "y", "x"), "y": ("y",)}
    assert plait.arrays_in(f"{tmp_path}/a.nc::t2m")[0].dimension_names == ("time", "y", "x")
    check_array(f"{tmp_path}/a.nc::/t2m", array)
    check_array(f"{tmp_path}/a.nc::y", np.arange(7.0))
    check_array(f"{tmp_path}/a.nc::/more/u", np.arange(10, dtype=">i4"))


def test_labels_and_scales_name_the_dimensions(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = np.zeros((3, 4, 5))
        file["a"].dims[0].label = "time"
        file["a"].dims[2].label = "x"
        file["scale"] = np.arange(4)
        file["scale"].make_scale("y")
        file["a"].dims[1].attach_scale(file["scale"])
    named = {info.name: info.dimension_names for info in plait.arrays_in(tmp_path / "a.h5")}
    assert named == {"a": ("time", "scale", "x"), "scale": ("scale",)}
    plait.copy(f"{tmp_path}/a.h5::a", tmp_path / "b.zarr", chunks={"time": 1, "x": 2})
    with plait.open(tmp_path / "b.zarr") as file:
        assert file.chunks == (1, 4, 2)
