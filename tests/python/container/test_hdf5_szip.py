"""HDF5's szip filter: Plait decodes chunks of h5py, reports damage, and stores changed chunks without the filter."""

import re
from ctypes.util import find_library

import numpy as np
import pytest
from hdf5_files import CHUNK, SHAPE, make_array, write_dataset

import plait

h5py = pytest.importorskip("h5py")
if not h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
    pytest.skip("HDF5's library here has no szip", allow_module_level=True)
needs_library = pytest.mark.skipif(find_library("sz") is None, reason="libsz is not installed")


@needs_library
@pytest.mark.parametrize("coding", [("nn", 8), ("ec", 32), ("nn", 2), ("ec", 16)], ids=str)
@pytest.mark.parametrize("filters", [{}, {"shuffle": True, "fletcher32": True}], ids=["alone", "among others"])
@pytest.mark.parametrize("dtype", ["u1", "i2", ">i4", "f4", ">f8", "i8"])
def test_chunks_are_decoded(tmp_path, coding, filters, dtype):
    array = make_array(dtype)
    path = write_dataset(tmp_path / "a.h5", array, chunks=CHUNK, compression="szip", compression_opts=coding, **filters)
    with plait.open(path) as file:
        np.testing.assert_array_equal(file.read(), array)
        np.testing.assert_array_equal(file.read(region=np.s_[3:9, 1:7:2, ::3]), array[3:9, 1:7:2, ::3])
    assert "szip" in plait.arrays_in(path)[0].storage


@needs_library
@pytest.mark.parametrize("dtype", ["u1", "f8"])
def test_large_chunks_of_noise_and_of_one_number_are_decoded(tmp_path, dtype):
    """Noise is incompressible: HDF5 then stores the chunk without the filter."""
    noise = np.frombuffer(np.random.default_rng(3).bytes(1 << 18), dtype)
    for array in (noise, np.full(noise.shape, 7, dtype), np.arange(noise.size).astype(dtype)):
        options = {"chunks": (array.size // 3,), "compression": "szip", "compression_opts": ("nn", 16)}
        with plait.open(write_dataset(tmp_path / "a.h5", array, **options)) as file:
            assert file.read().tobytes() == array.tobytes()


@needs_library
def test_elements_are_changed_in_place(tmp_path):
    array = make_array("i4")
    path = write_dataset(tmp_path / "a.h5", array, chunks=CHUNK, compression="szip")
    with plait.open(path, "r+") as file:
        file.write(np.full((2, 3, 4), -5, "i4"), region=np.s_[3:5, 2:5, 4:8])
    array[3:5, 2:5, 4:8] = -5
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["a"], array)
    with plait.open(path) as file:
        np.testing.assert_array_equal(file.read(), array)


def write_compressed_chunk(path, values, compressed):
    """Write a dataset with one chunk, which has these compressed bytes and these filter parameters."""
    with h5py.File(path, "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((64,))
        # HDF5 reserves this filter number for tests. Registered filters, of which netCDF4 brings several, would replace
        # the values.
        plist.set_filter(511, h5py.h5z.FLAG_OPTIONAL, values)
        space = h5py.h5s.create_simple((64,))
        h5py.h5d.create(file.id, b"a", h5py.h5t.STD_U8LE, space, plist).write_direct_chunk((0,), compressed)
    intact = path.read_bytes()
    # The entry of a filter in the pipeline message: number, length of the name, flags, and number of values.
    offsets = [match.start() for match in re.finditer((511).to_bytes(2, "little") + b"\0\0\1\0\4\0", intact)]
    assert len(offsets) == 1
    # 4 is the number of the szip filter.
    path.write_bytes(intact[: offsets[0]] + (4).to_bytes(2, "little") + intact[offsets[0] + 2 :])
    return path


@needs_library
@pytest.mark.parametrize(
    ("values", "compressed", "message"),
    [
        ((141, 8, 8, 64), b"\x40\0", "too few for the number"),
        ((141, 8, 8, 64), b"\xff\xff\xff\xff" + bytes(9), "announces 4294967295 bytes, but a chunk has 64"),
        ((141, 8, 8, 64), b"\x40\0\0\0", "no szip data of 64 bytes"),
        ((141, 0, 8, 64), b"\x40\0\0\0" + bytes(40), "blocks of 0 pixels"),
        ((141, 7, 8, 64), b"\x40\0\0\0" + bytes(40), "blocks of 7 pixels"),
        ((141, 8, 40, 64), b"\x40\0\0\0" + bytes(40), "pixels of 40 bits"),
        ((141, 8, 8, 0), b"\x40\0\0\0" + bytes(40), "lines of 0 pixels"),
        ((1 << 20, 8, 8, 64), b"\x40\0\0\0" + bytes(40), "has options 1048576"),
    ],
)
def test_damage_is_an_error_that_names_the_chunk(tmp_path, values, compressed, message):
    path = write_compressed_chunk(tmp_path / "a.h5", values, compressed)
    with plait.open(path) as file, pytest.raises(plait.StoreError, match=message) as error:
        file.read()
    assert "chunk (0)" in str(error.value)


@needs_library
def test_damaged_bits_are_an_error_or_give_other_numbers(tmp_path):
    array = make_array("i2")
    path = write_dataset(tmp_path / "a.h5", array, chunks=SHAPE, compression="szip", compression_opts=("nn", 8))
    intact = path.read_bytes()
    with h5py.File(path) as file:
        chunk = file["a"].id.get_chunk_info(0)
    random = np.random.default_rng(5)
    errors = []
    for _ in range(100):
        changed = bytearray(intact)
        changed[chunk.byte_offset + random.integers(chunk.size)] ^= 1 << random.integers(8)
        path.write_bytes(changed)
        with plait.open(path) as file:
            try:
                assert file.read().shape == SHAPE
            except plait.StoreError as error:
                errors.append(str(error))
    assert [error for error in errors if "chunk (0, 0, 0)" not in error] == []
