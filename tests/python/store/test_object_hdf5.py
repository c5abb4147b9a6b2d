"""HDF5 and netCDF-4 files on HTTP servers and in s3://, compared with h5py, netCDF4 and xarray."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")

SHAPE, CHUNK = (40, 61), (7, 9)
ARRAY = np.random.default_rng(5).integers(0, 40, SHAPE).astype("f8")
TEXTS = np.array([f"text {i}" * (i % 4) for i in range(900)], dtype=object)


def publish(server, path, name=None):
    return server.publish(name or path.name, path.read_bytes())


def as_s3(server, url):
    return url.replace(f"{server.endpoint}/public/", "s3://public/")


def write_all_kinds(path, **options):
    """Write a dataset of every kind of storage, and attributes; return the path."""
    with h5py.File(path, "w", **options) as file:
        file.attrs["title"] = "kinds"
        file["contiguous"] = ARRAY
        file["scalar"] = 5.25
        file["empty"] = np.zeros((0, 3), "i2")
        file.create_dataset("unwritten", (4, 5), "i4", fillvalue=7)
        for name, filters in {
            "plain": {},
            "gzip": {"compression": "gzip"},
            "shuffled": {"compression": "gzip", "shuffle": True, "fletcher32": True},
            "lzf": {"compression": "lzf"},
            "scaled": {"scaleoffset": 3},
        }.items():
            dataset = file.create_dataset(f"g/{name}", data=ARRAY, chunks=CHUNK, **filters)
            dataset.attrs["unit"] = np.array([f"unit of {name}"], dtype=object)
            dataset.attrs["number"] = np.arange(3)
        partial = file.create_dataset("g/h/partial", SHAPE, "f8", chunks=CHUNK, fillvalue=-1, compression="gzip")
        partial[10:20, 30:] = ARRAY[10:20, 30:]
        file.create_dataset("texts", data=TEXTS, dtype=h5py.string_dtype())
        file.create_dataset("chunked_texts", data=TEXTS, dtype=h5py.string_dtype(), chunks=(70,), compression="gzip")
        file.create_dataset("fixed", data=np.char.mod("%d", np.arange(500)).astype("S7"), chunks=(33,))
        terminated = h5py.h5t.C_S1.copy()
        terminated.set_size(9)
        file.create_dataset(
            "terminated", data=np.array([b"abc", b"", b"12345678"]), dtype=h5py.Datatype(terminated).dtype
        )
    return path


def read_by_h5py(path):
    """Return all arrays of a file by their names; texts are of the type str."""
    with h5py.File(path) as file:
        datasets = {}
        file.visititems(lambda name, item: datasets.update({name: item}) if isinstance(item, h5py.Dataset) else None)
        return {
            name: dataset.asstr()[...]
            if h5py.check_string_dtype(dataset.dtype) and dataset.dtype.kind == "O"
            else dataset[...]
            for name, dataset in datasets.items()
        }


@pytest.mark.parametrize("scheme", ["http", "s3"])
@pytest.mark.parametrize("options", [{}, {"libver": "latest"}, {"userblock_size": 1024}], ids=str)
def test_all_kinds_of_storage_are_read(server, tmp_path, scheme, options):
    url = publish(server, write_all_kinds(tmp_path / "a.h5", **options))
    name = url if scheme == "http" else as_s3(server, url)
    arrays = read_by_h5py(tmp_path / "a.h5")
    assert {array.name for array in plait.arrays_in(name)} == {*arrays}
    for array, values in arrays.items():
        with plait.open(f"{name}::{array}") as file, plait.open(f"{tmp_path}/a.h5::{array}") as local:
            assert (file.shape, file.dtype, file.chunks) == (local.shape, local.dtype, local.chunks)
            np.testing.assert_array_equal(file.read(), values, err_msg=array)
            assert {**file.attrs}.keys() == {**local.attrs}.keys()
            for key, value in local.attrs.items():
                np.testing.assert_array_equal(file.attrs[key], value)


# Chunks with each kind of index: version of the file format, options, maximum shape, and early allocation.
INDICES = [
    (libver, options, maxima, early)
    for libver in ("earliest", "latest")
    for options in ({}, {"compression": "gzip", "shuffle": True})
    for maxima in (SHAPE, (50, 61), (None, 61), (40, None), (None, None))
    for early in ((False, True) if not options else (False,))
]


@pytest.mark.parametrize("case", INDICES, ids=str)
def test_all_kinds_of_indices_are_read(server, tmp_path, case):
    libver, options, maxima, early = case
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if early:
        properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    with h5py.File(tmp_path / "a.h5", "w", libver=libver) as file:
        for name, chunks in (("x", CHUNK), ("single", SHAPE), ("small", (1, 2))):
            extents = SHAPE if name == "single" else maxima
            file.create_dataset(
                name, data=ARRAY, chunks=chunks, maxshape=extents, dcpl=properties if early else None, **options
            )
    url = publish(server, tmp_path / "a.h5")
    for name in ("x", "single", "small"):
        with plait.open(f"{url}::{name}") as file:
            np.testing.assert_array_equal(file.read(), ARRAY)


@pytest.mark.parametrize("seed", range(4))
def test_random_regions_are_read(server, tmp_path, seed):
    random = np.random.default_rng(seed)
    shape = tuple(int(extent) for extent in random.integers(1, 60, random.integers(1, 4)))
    chunks = tuple(int(random.integers(1, extent + 1)) for extent in shape)
    array = random.integers(0, 99, shape).astype(random.choice(["i2", "f4", "f8", ">i4"]))
    options = [{}, {"chunks": chunks}, {"chunks": chunks, "compression": "gzip"}]
    with h5py.File(tmp_path / "a.h5", "w", libver=random.choice(["earliest", "latest"])) as file:
        for number, storage in enumerate(options):
            file.create_dataset(str(number), data=array, **storage)
    url = publish(server, tmp_path / "a.h5")
    for number in range(3):
        with plait.open(f"{url}::{number}") as file:
            for _ in range(6):
                bounds = [sorted(random.integers(0, extent + 1, 2)) for extent in shape]
                strides = random.integers(1, 4, len(shape))
                region = tuple(slice(*bound, int(stride)) for bound, stride in zip(bounds, strides, strict=True))
                np.testing.assert_array_equal(file[region], array[region])
                plain = tuple(slice(*bound) for bound in bounds)
                np.testing.assert_array_equal(file.read(region=plain), array[plain])


@pytest.mark.parametrize("faults", [{}, {"no_etag": True}, {"weak_etag": True}], ids=str)
def test_a_replaced_object_is_never_mixed(server, tmp_path, faults):
    """The object is replaced after each number of requests; the result is right, or an error reports the change."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for number in range(60):
            file.create_dataset(f"d{number}", data=np.arange(4000.0) + number, chunks=(100,), compression="gzip")
            file[f"d{number}"].attrs["unit"] = "m" * number
    errors = []
    for after in range(1, 12):
        server.set_faults()
        url = publish(server, tmp_path / "a.h5", f"changing{after}.h5")
        server.set_faults(**faults, change_after=after)
        try:
            infos = plait.arrays_in(url)
            with plait.open(f"{url}::d59") as file:
                np.testing.assert_array_equal(file.read(), np.arange(4000.0) + 59)
                assert file.attrs["unit"] == "m" * 59
            assert [info.attributes["unit"] for info in infos] == ["m" * int(info.name[1:]) for info in infos]
        except plait.Error as error:  # an object that is replaced before it is opened is no HDF5 file
            errors.append(str(error))
    assert len(errors) >= 4
    assert [text for text in errors if "another program has replaced" in text]


def test_failing_requests_are_errors(server, tmp_path, monkeypatch):
    """The library takes a failed request for a missing attribute or a damaged file; Plait reports the request."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    array = np.random.default_rng(2).integers(0, 1 << 20, (400, 300))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("gzip", data=array, chunks=(50, 50), compression="gzip")
        file.create_dataset("scaled", data=array, chunks=(50, 50), scaleoffset=0)
        file["last"] = array
        file["last"].attrs["unit"] = "m"
    for name in ("gzip", "scaled", "last"):
        url = publish(server, tmp_path / "a.h5")
        with plait.open(f"{url}::{name}") as file:
            server.set_faults(fail=1000)
            with pytest.raises(plait.Error, match="status 500"):
                file.read()
            server.set_faults()
            np.testing.assert_array_equal(file.read(), array)
        url = publish(server, tmp_path / "a.h5")  # with another ETag, so that no block is in memory
        with plait.open(f"{url}::{name}") as file:
            publish(server, tmp_path / "a.h5")
            with pytest.raises(plait.Error, match="another program has replaced"):
                file.read()


def test_damaged_files_are_errors_as_in_folders(server, tmp_path):
    content = bytearray(write_all_kinds(tmp_path / "a.h5").read_bytes())
    url = server.publish("short.h5", bytes(content[:5000]))
    with pytest.raises(plait.Error, match=r"cannot be opened as an HDF5 file by HDF5 .*truncated"):
        plait.open(f"{url}::contiguous")
    random = np.random.default_rng(3)
    for _ in range(30):
        damaged = bytearray(content)
        for position in random.integers(8, 12_000, 6):
            damaged[position] = random.integers(0, 256)
        (tmp_path / "damaged.h5").write_bytes(damaged)
        url = server.publish("damaged.h5", bytes(damaged))
        results = []
        for name in (str(tmp_path / "damaged.h5"), url):
            try:
                results.append(sorted(array.name for array in plait.arrays_in(name)))
            except plait.Error:
                results.append("error")
        assert results[0] == results[1]


def test_the_library_reads_virtual_datasets_filters_and_references(server, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=ARRAY, chunks=CHUNK)
        file.create_dataset("packed", data=ARRAY.astype("i4"), chunks=CHUNK, scaleoffset=0)
        layout = h5py.VirtualLayout((2, *SHAPE), "f8")
        layout[0] = layout[1] = h5py.VirtualSource(file["x"])
        file.create_virtual_dataset("twice", layout)
        file.create_dataset("references", data=[file["x"].ref, file["packed"].ref], dtype=h5py.ref_dtype)
    url = publish(server, tmp_path / "a.h5")
    np.testing.assert_array_equal(plait.open(f"{url}::packed").read(), ARRAY)
    np.testing.assert_array_equal(plait.open(f"{url}::twice").read(region=np.s_[1, 3:9]), ARRAY[3:9])
    plait.copy(as_s3(server, url), tmp_path / "copy.h5")
    with h5py.File(tmp_path / "copy.h5") as file:
        assert [file[reference].name for reference in file["references"][...]] == ["/x", "/packed"]
        np.testing.assert_array_equal(file["twice"][1], ARRAY)


def test_other_files_are_not_read(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with h5py.File("other.h5", "w") as file:
        file["x"] = ARRAY
    (tmp_path / "external.bin").write_bytes(ARRAY.tobytes())
    with h5py.File("a.h5", "w") as file:
        file["x"] = ARRAY
        file["link"] = h5py.ExternalLink("other.h5", "/x")
        file.create_dataset("stored", SHAPE, "f8", external=[("external.bin", 0, ARRAY.nbytes)])
        layout = h5py.VirtualLayout(SHAPE, "f8")
        layout[...] = h5py.VirtualSource("other.h5", "x", SHAPE)
        file.create_virtual_dataset("virtual", layout)
    url = publish(server, tmp_path / "a.h5")
    for rule in ("folder", "any"):
        monkeypatch.setenv("PLAIT_HDF5_EXTERNAL", rule)
        for name in ("link", "stored", "virtual"):
            np.testing.assert_array_equal(plait.open(f"a.h5::{name}").read(), ARRAY)
            with pytest.raises(plait.ArgumentError, match="not read for a file in an object store; copy both into"):
                plait.open(f"{url}::{name}")
    np.testing.assert_array_equal(plait.open(f"{url}::x").read(), ARRAY)


def test_changes_are_rejected(server, tmp_path):
    url = publish(server, write_all_kinds(tmp_path / "a.h5"))
    for mode in ("r+", "a"):
        with pytest.raises(plait.ArgumentError, match="objects are replaced as a whole; open it for reading, or copy"):
            plait.open(f"{as_s3(server, url)}::contiguous", mode)
        with pytest.raises(plait.ArgumentError, match="objects are replaced as a whole; open it for reading, or copy"):
            plait.open(f"{as_s3(server, url)}::new", mode, shape=3, dtype="i4")
        with pytest.raises(plait.ArgumentError, match="are only read"):
            plait.open(f"{url}::contiguous", mode)


def test_content_decides_the_format(server, tmp_path):
    write_all_kinds(tmp_path / "a.h5")
    for name in ("a.npy", "without", "a.nc", "a.bin"):
        url = publish(server, tmp_path / "a.h5", name)
        if name == "a.bin":
            url = url.replace("http:", "hdf5:http:")
        np.testing.assert_array_equal(plait.open(f"{url}::contiguous").read(), ARRAY)


def test_copies_from_and_to_objects_are_equal(server, tmp_path):
    arrays = read_by_h5py(write_all_kinds(tmp_path / "a.h5"))
    url = as_s3(server, publish(server, tmp_path / "a.h5"))
    plait.copy(url, tmp_path / "a.zarr")
    plait.copy(url, "s3://bucket/copy.h5")
    for target in (tmp_path / "a.zarr", "s3://bucket/copy.h5"):
        for name, values in arrays.items():
            separator = "::/" if target != "s3://bucket/copy.h5" else "::"
            np.testing.assert_array_equal(plait.open(f"{target}{separator}{name}").read(), values)


def test_a_copy_has_arrays_of_one_content(server, tmp_path):
    """The object changes between two of its arrays, whose bytes are in one request each."""
    array = np.arange(200_000.0)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name in "abcdef":
            file[name] = array
    copies = 0
    for after in range(2, 30):
        server.set_faults()
        url = publish(server, tmp_path / "a.h5")
        # Each read gets the same bytes with another ETag from then on.
        server.set_faults(new_tags=True) if after % 2 else server.set_faults(change_after=after)
        target = tmp_path / f"{after}.zarr"
        try:
            plait.copy(url, target)
        except plait.Error:
            continue
        copies += 1
        for name in "abcdef":
            np.testing.assert_array_equal(plait.open(f"{target}::/{name}").read(), array)
    assert copies < 20  # of 28; the others failed because the object changed


def test_info_does_not_read_whole_indices(server, tmp_path):
    url = publish(server, write_all_kinds(tmp_path / "a.h5"))
    command = [f"{sysconfig.get_path('scripts')}/plait", "info", "--json"]
    array_info, file_info = (
        json.loads(subprocess.run([*command, name], check=True, capture_output=True, text=True).stdout)
        for name in (f"{url}::g/gzip", url)
    )
    local = json.loads(
        subprocess.run([*command, f"{tmp_path}/a.h5::g/gzip"], check=True, capture_output=True, text=True).stdout
    )
    assert array_info["shape"] == local["shape"]
    assert 0 < array_info["size"] < ARRAY.nbytes
    array_infos = {array["name"]: array for array in file_info["arrays"]}
    assert array_infos["g/gzip"]["stored"] is None, "the whole index would have to be read"
    assert array_infos["contiguous"]["stored"] == ARRAY.nbytes
    table = subprocess.run([*command[:-1], url], check=True, capture_output=True, text=True).stdout
    assert "g/h/partial" in table


def test_netcdf4_files_are_read_joined_and_copied(server, tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    xarray = pytest.importorskip("xarray")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 40)
        file.title = "records"
        for name, kind in (("v", "f4"), ("w", "i2")):
            variable = file.createVariable(name, kind, ("t", "x"), zlib=True)
            variable[:] = np.arange(30 * 40).reshape(30, 40)
            variable.units = "K"
        file.createVariable("short", "i4", ("t",))[:] = np.arange(7)
        file.createVariable("names", str, ("x",))[:] = np.array([f"n{i}" for i in range(40)], dtype=object)
        file.createVariable("x", "f8", ("x",))[:] = np.arange(40) / 4
    names = [as_s3(server, publish(server, tmp_path / "a.nc", name)) for name in ("a.nc", "b.nc")]
    with xarray.open_dataset(tmp_path / "a.nc", engine="netcdf4") as expected:
        expected.load()
    for name in (names[0], names[0].replace("s3://", f"{server.endpoint}/")):
        with xarray.open_dataset(name, engine="plait") as actual:
            xarray.testing.assert_identical(actual.load(), expected)
    with plait.open(f"{names[0]}::short") as file, plait.open(f"{tmp_path}/a.nc::short") as local:
        assert file.shape == (30,)
        np.testing.assert_array_equal(file.read(), local.read())
    with plait.open_many(names, "t", variable="v") as joined:
        np.testing.assert_array_equal(joined["v"].read(), np.tile(expected["v"], (2, 1)))
    plait.copy(names[0], "s3://bucket/new.nc")
    with xarray.open_dataset("s3://bucket/new.nc", engine="plait") as actual:
        xarray.testing.assert_identical(actual.load(), expected)


@pytest.mark.parametrize("codec", [None, "gzip"])
def test_new_files_are_written(server, codec):
    options = {"chunks": (10, 20), "codec": codec} if codec else {}
    with plait.open("s3://bucket/new.h5::g/x", "w", shape=SHAPE, dtype="f8", **options) as file:
        file.write(ARRAY)
    with plait.open("s3://bucket/new.h5::g/x") as file:
        np.testing.assert_array_equal(file.read(), ARRAY)


def test_an_older_library_reads_objects(server, tmp_path):
    older = sorted(Path("/usr/lib").glob("*/libhdf5*.so.103"))
    if not older:
        pytest.skip("no HDF5 1.10 or 1.12 in /usr/lib")
    arrays = read_by_h5py(write_all_kinds(tmp_path / "a.h5"))
    url = publish(server, tmp_path / "a.h5")
    np.savez(tmp_path / "expected.npz", **{name: array for name, array in arrays.items() if array.dtype.kind != "O"})
    code = f"""
import numpy, plait
for name, array in numpy.load({str(tmp_path / "expected.npz")!r}).items():
    numpy.testing.assert_array_equal(plait.open({url!r} + "::" + name).read(), array, err_msg=name)
"""
    environment = {**os.environ, "PLAIT_HDF5": str(older[0])}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
