"""Filters and types of HDF5 datasets that Plait leaves to HDF5's library and its plug-ins, compared with h5py."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launching import run

import plait

h5py = pytest.importorskip("h5py")

SHAPE, CHUNK = (13, 7, 10), (4, 3, 10)
INTEGERS = np.random.default_rng(1).integers(0, 500, SHAPE).astype("i4")
FLOATS = np.linspace(-3, 40, INTEGERS.size).reshape(SHAPE).astype("f4")
# Compressors of the package hdf5plugin that Plait leaves to HDF5, with the arrays that they compress.
PLUGINS = {
    "zfp": ("Zfp(reversible=True)", FLOATS),
    "bitshuffle": ("Bitshuffle()", INTEGERS),
    "blosc2": ("Blosc2()", INTEGERS),
    "bzip2": ("BZip2()", INTEGERS),
}
# Compressors of the package whose chunks Plait decodes itself.
HDF5PLUGIN_CODECS = {"lz4": "LZ4()", "zstd": "Zstd()", "blosc": "Blosc()"}


def run_python(code: str, **environment: str) -> str:
    """Run code in a new process, in which no test has imported plug-ins."""
    # netCDF4 sets the plug-in path to its own plug-ins, which belong to another HDF5.
    inherited = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    result = subprocess.run(
        [sys.executable, "-c", code], env={**inherited, **environment}, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def compressed_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a dataset for each plug-in, which h5py has written in another process."""
    pytest.importorskip("hdf5plugin")
    folder = tmp_path_factory.mktemp("packed")
    np.savez(folder / "arrays.npz", integers=INTEGERS, floats=FLOATS)
    datasets = {
        name: (options, "floats" if array is FLOATS else "integers") for name, (options, array) in PLUGINS.items()
    }
    datasets |= {name: (options, "integers") for name, options in HDF5PLUGIN_CODECS.items()}
    lines = [
        f"f.create_dataset('{name}', data=a['{array}'], chunks={CHUNK}, **hdf5plugin.{options})"
        for name, (options, array) in datasets.items()
    ]
    code = "import h5py, hdf5plugin, numpy as np\n"
    code += f"a = np.load({str(folder / 'arrays.npz')!r})\nf = h5py.File({str(folder / 'a.h5')!r}, 'w')\n"
    run_python(code + "\n".join(lines) + "\nf.close()")
    return folder / "a.h5"


def write_unusual_numbers(path: Path) -> dict[str, np.ndarray]:
    """Write datasets with the filters scale-offset and nbit and with unusual numbers of bits; return h5py's arrays."""
    with h5py.File(path, "w") as file:
        file.create_dataset("integers", data=INTEGERS, chunks=CHUNK, scaleoffset=0)
        file.create_dataset("floats", data=FLOATS, chunks=CHUNK, scaleoffset=3)
        file.create_dataset("partial", shape=SHAPE, dtype="i4", chunks=CHUNK, scaleoffset=0, fillvalue=7)
        file["partial"][:5] = INTEGERS[:5]
        for name, base, bits, bytes_, is_filtered in (
            ("nbit", h5py.h5t.STD_I32LE, 20, 4, True),
            ("big", h5py.h5t.STD_U32BE, 17, 4, False),
            ("three", h5py.h5t.STD_I32LE, 24, 3, False),
        ):
            type_ = base.copy()
            type_.set_precision(bits)
            type_.set_size(bytes_)
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            if is_filtered:
                properties.set_chunk(CHUNK)
                properties.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL, ())
            dataset = h5py.h5d.create(file.id, name.encode(), type_, h5py.h5s.create_simple(SHAPE), properties)
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, INTEGERS)
        real = h5py.h5t.IEEE_F32LE.copy()
        # The sign in bit 27, 7 bits of exponent from bit 20 on with the bias 63, and 16 bits of mantissa from bit 4 on.
        real.set_fields(27, 20, 7, 4, 16)
        real.set_ebias(63)
        real.set_precision(28)
        short = h5py.h5d.create(file.id, b"short", real, h5py.h5s.create_simple(SHAPE), None)
        short.write(h5py.h5s.ALL, h5py.h5s.ALL, FLOATS)
        attribute = h5py.h5a.create(file.id, b"bits", h5py.h5t.STD_I32LE.copy(), h5py.h5s.create(h5py.h5s.SCALAR))
        attribute.write(np.array(3, "i4"))
        arrays = {}
        for name in file:
            out = np.empty(SHAPE, FLOATS.dtype if name in ("floats", "short") else INTEGERS.dtype)
            file[name].id.read(h5py.h5s.ALL, h5py.h5s.ALL, out)
            arrays[name] = out
    return arrays


def check_array(url: object, array: np.ndarray) -> None:
    with plait.open(url) as file:
        np.testing.assert_array_equal(file.read(), array)
        for region in (np.s_[2:9, 3], np.s_[..., ::3], np.s_[12:, :, 4:5], np.s_[0, 0, 0]):
            np.testing.assert_array_equal(file.read(region=region), array[region])
        for dist in ("(cyclic, block, *)", "(*, cyclic(2), block)", "(block(7), *, cyclic)"):
            layout = plait.Layout.parse(f"13x7x10 {dist} onto (2, 2)")
            parts = file.read(layout)
            for rank, part in enumerate(parts):
                np.testing.assert_array_equal(part, array[np.ix_(*layout.indices(rank))])


@pytest.mark.parametrize("name", [*PLUGINS, *HDF5PLUGIN_CODECS])
def test_plugins_are_found_without_a_setting(compressed_file: Path, tmp_path: Path, name: str) -> None:
    array = PLUGINS[name][1] if name in PLUGINS else INTEGERS
    check_array(f"{compressed_file}::{name}", array)
    infos = {info.name: info for info in plait.arrays_in(compressed_file)}[name]
    assert infos.error == ""
    assert (f"read by HDF5's library (filter {name})" in infos.storage) == (name in PLUGINS)
    plait.copy(f"{compressed_file}::{name}", tmp_path / "b.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), array)


def test_the_library_converts_unusual_numbers(tmp_path: Path) -> None:
    arrays = write_unusual_numbers(tmp_path / "a.h5")
    for name, array in arrays.items():
        check_array(f"{tmp_path}/a.h5::{name}", array)
    infos = {info.name: info for info in plait.arrays_in(tmp_path / "a.h5")}
    assert infos["big"].dtype == np.dtype(">u4")
    assert infos["three"].dtype == np.dtype("<i4")
    assert infos["three"].storage == "read by HDF5's library (integers of 24 bits in 3 bytes)"
    assert "floats of 7 bits of exponent and 16 of mantissa in 4 bytes" in infos["short"].storage
    assert "filter nbit, integers of 20 bits in 4 bytes" in infos["nbit"].storage
    np.testing.assert_array_equal(arrays["integers"], INTEGERS)
    plait.copy(tmp_path / "a.h5", tmp_path / "b.h5")
    with h5py.File(tmp_path / "b.h5") as file:
        for name, array in arrays.items():
            np.testing.assert_array_equal(file[name][...], array)


def test_explanations_and_listings_name_the_library(tmp_path: Path) -> None:
    write_unusual_numbers(tmp_path / "a.h5")
    with plait.open(f"{tmp_path}/a.h5::integers") as file:
        assert "read by HDF5's library (filter scaleoffset)" in file.explain()
        with pytest.raises(plait.ArgumentError, match="HDF5's library reads its elements"):
            plait.open(f"{tmp_path}/a.h5::integers", "r+")
    listing = run("info", f"{tmp_path}/a.h5")
    assert "scaleoffset, read by HDF5's library (filter scaleoffset)" in listing.output
    plan = run("copy", f"{tmp_path}/a.h5", f"{tmp_path}/b.zarr", "--dry-run")
    line = "integers is read by the library of its format (filter scaleoffset), by one thread of a process at a time"
    assert line in plan.output
    assert not (tmp_path / "b.zarr").exists()


def test_a_missing_plugin_is_an_error(compressed_file: Path) -> None:
    code = f"""
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *others: None if name == "hdf5plugin" else find(name, *others)
import plait
for info in plait.arrays_in({str(compressed_file)!r}):
    if info.name == "bitshuffle": print(info.error)
try: plait.open({str(compressed_file)!r} + "::zfp")
except plait.ArgumentError as error: print(error)
"""
    listing, opened = run_python(code, HDF5_PLUGIN_PATH="/nowhere").splitlines()
    assert "compressed by bitshuffle, filter 32008, which neither Plait nor HDF5" in listing
    assert f"{compressed_file}::zfp: its chunks are compressed by zfp, filter 32013" in opened
    assert "pip install hdf5plugin" in opened
    hdf5plugin = pytest.importorskip("hdf5plugin")
    assert not run_python(code, HDF5_PLUGIN_PATH=str(Path(hdf5plugin.__file__).parent / "plugins")).strip()


def test_a_damaged_chunk_is_an_error(compressed_file: Path, tmp_path: Path) -> None:
    with h5py.File(compressed_file) as file:
        chunk = file["bzip2"].id.get_chunk_info(3)
    content = bytearray(compressed_file.read_bytes())
    content[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    (tmp_path / "a.h5").write_bytes(content)
    with plait.open(f"{tmp_path}/a.h5::bzip2") as file:
        np.testing.assert_array_equal(file.read(region=np.s_[:4, :3]), INTEGERS[:4, :3])
        with pytest.raises(
            plait.StoreError,
            match=r"a\.h5::bzip2: HDF5 .* cannot read the elements from \(0, 0, 0\)|"
            r"a\.h5::bzip2: HDF5 .* cannot read the elements from \(4, 0, 0\)",
        ):
            file.read()
