"""Zarr in zip files in object stores and on HTTP servers."""

import io
import zipfile

import numpy as np
import pytest
from array_reads import check_parts, open_error_text

import plait

zarr = pytest.importorskip("zarr")

SHAPE, CHUNK = (13, 7, 10), (4, 3, 10)


def make_array(dtype="<f4"):
    return np.random.default_rng(1).integers(0, 90, SHAPE).astype(dtype)


def make_zip(tmp_path, arrays, compression=zipfile.ZIP_STORED, chunks=CHUNK, **options):
    """Return the bytes of a zip file by zarr-python; the array without a name is the whole store."""
    path = tmp_path / "made.zip"
    path.unlink(missing_ok=True)
    store = zarr.storage.ZipStore(path, mode="w", compression=compression)
    if "" not in arrays:
        zarr.create_group(store, attributes={"title": "x"})
    for name, array in arrays.items():
        stored = zarr.create_array(
            store, name=name or None, shape=array.shape, chunks=chunks, dtype=array.dtype, **options
        )
        stored[...] = array
    store.close()
    return path.read_bytes()


def publish(server, name, content, scheme):
    """Put a public object, and return its name with http:// or s3://."""
    url = server.publish(name, content)
    return url if scheme == "http" else f"s3://public/{name}"


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("options", [{"compressors": None}, {}, {"shards": (8, 6, 10)}])
@pytest.mark.parametrize("scheme", ["http", "s3"])
def test_one_array_is_read(server, tmp_path, scheme, options, compression):
    array = make_array()
    url = publish(server, "a.zarr.zip", make_zip(tmp_path, {"": array}, compression, **options), scheme)
    with plait.open(url) as file:
        assert (file.shape, file.dtype) == (array.shape, array.dtype)
        check_parts(file, array)
    with plait.open(f"zarr:{url}") as file:
        np.testing.assert_array_equal(file.read(), array)


@pytest.mark.parametrize("scheme", ["http", "s3"])
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_groups_are_read(server, tmp_path, version, scheme):
    arrays = {"t": make_array(), "g/u": make_array("<i2")}
    url = publish(server, "g.zip", make_zip(tmp_path, arrays, zarr_format=version), scheme)
    assert sorted(array.name for array in plait.arrays_in(url)) == ["g/u", "t"]
    for name, array in arrays.items():
        for array_url in (f"{url}::/{name}", f"{url}::{name}"):
            np.testing.assert_array_equal(plait.open(array_url).read(), array)
    assert [array.name for array in plait.arrays_in(f"{url}::/g")] == ["g/u"]
    assert plait.groups_in(url)[0].attributes["title"] == "x"
    assert "is a group, which holds 2 arrays: g/u, t" in open_error_text(plait.ArgumentError, url)
    with pytest.raises(FileNotFoundError, match="no array or group of this name"):
        plait.open(f"{url}::/missing")
    plait.copy(url, tmp_path / "b.h5")
    for name, array in arrays.items():
        np.testing.assert_array_equal(plait.open(f"{tmp_path / 'b.h5'}::{name}").read(), array)


def test_the_name_may_have_options(server, tmp_path):
    array = make_array()
    content = make_zip(tmp_path, {"x": array})
    server.publish("o.zip", content)
    np.testing.assert_array_equal(plait.open("s3://public/o.zip?region=eu-test-1::x").read(), array)
    np.testing.assert_array_equal(plait.open(f"{server.endpoint}/public/o.zip?sig=secret::x").read(), array)
    assert any(request["query"] == "sig=secret" for request in server.take_log())


def test_opening_and_reading_take_few_requests(server, tmp_path):
    """The directory takes two requests and the array few; all but the first have the ETag as condition."""
    array = np.random.default_rng(2).random((400, 1000))
    content = make_zip(tmp_path, {"": array}, chunks=(1, 100), compressors=None)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = len(archive.infolist())
    assert entries == 4001
    url = server.publish("many.zarr.zip", content)
    with plait.open(url) as file:
        opening = server.take_log()
        np.testing.assert_array_equal(file.read(), array)
        reading = server.take_log()
    assert opening[0]["range"] == "bytes=-131072"
    assert len(opening) <= 3, [request["range"] for request in opening]
    assert len(reading) <= 12
    assert all("if-match" in request["headers"] for request in opening[1:] + reading)
    with plait.open(url) as file:
        reopening = server.take_log()
        assert len(reopening) <= 2, "the directory is known"
        assert reopening[0]["headers"]["if-none-match"] == '"v' + reopening[0]["headers"]["if-none-match"][2:]
        np.testing.assert_array_equal(file.read(region=np.s_[7, 100:300]), array[7, 100:300])
    assert len(server.take_log()) == 1


def test_a_replaced_object_is_an_error_and_then_read_anew(server, tmp_path):
    array = np.random.default_rng(3).random((300, 200))
    url = server.publish("r.zarr.zip", make_zip(tmp_path, {"": array}, chunks=(10, 100), compressors=None))
    with plait.open(url) as file:
        np.testing.assert_array_equal(file.read(region=np.s_[0]), array[0])
        server.publish("r.zarr.zip", make_zip(tmp_path, {"": -array}, chunks=(20, 50), compressors=None))
        with pytest.raises(plait.StoreError, match="replaced the object since it was opened"):
            file.read()
    with plait.open(url) as file:
        np.testing.assert_array_equal(file.read(), -array)


def test_zip_files_are_not_written(server, tmp_path):
    url = publish(server, "w.zip", make_zip(tmp_path, {"x": make_array()}), "s3")
    for name in (f"{url}::x", f"zarr:{url}::x"):
        for mode in ("r+", "a"):
            with pytest.raises((plait.StoreError, plait.ArgumentError), match="zip file"):
                plait.open(name, mode)
    with pytest.raises(plait.StoreError, match="which Plait only reads"):
        plait.open(f"zarr:{url}::y", "w", shape=(3,), dtype="f4")
    for name in ("s3://b/new.zarr.zip", "s3://b/new.zip"):
        with pytest.raises(plait.ArgumentError, match="zip"):
            plait.open(name, "w", shape=(3,), dtype="f4")
    assert [request for request in server.take_log() if request["method"] == "PUT"] == []


def test_damaged_files_are_errors(server, tmp_path):
    content = bytearray(make_zip(tmp_path, {"": make_array()}, compressors=None))
    url = server.publish("cut.zarr.zip", bytes(content[:-30]))
    assert "as a zip file" in open_error_text(plait.StoreError, url)
    offset = content.index(b'"zarr_format"') + 1
    content[offset : offset + 1] = b"Z"
    url = server.publish("sum.zarr.zip", bytes(content))
    assert "check sum" in open_error_text(plait.StoreError, url)


def test_local_headers_may_have_extra_fields(server, tmp_path):
    """Extra fields of local headers that the directory does not have move the content of each entry."""
    array = make_array()
    source = make_zip(tmp_path, {"": array}, compressors=None)
    path = tmp_path / "extra.zip"
    with zipfile.ZipFile(io.BytesIO(source)) as original, zipfile.ZipFile(path, "w") as copy:
        for number, entry in enumerate(original.infolist()):
            with copy.open(zipfile.ZipInfo(entry.filename), "w", force_zip64=number % 3 == 1) as file:
                file.write(original.read(entry))
    url = server.publish("extra.zarr.zip", path.read_bytes())
    with plait.open(url) as file:
        np.testing.assert_array_equal(file.read(), array)
        np.testing.assert_array_equal(file.read(region=np.s_[9, 2:4]), array[9, 2:4])


def test_other_objects_may_have_names_with_zip(server):
    """Names with .zip may be those of archives of NumPy, or belong to keys of Zarr objects."""
    array = make_array()
    file = io.BytesIO()
    np.savez(file, x=array)
    url = server.publish("n.zip", file.getvalue())
    np.testing.assert_array_equal(plait.open(f"{url}::x").read(), array)
    with plait.open("zarr:s3://b/folder.zip", "w", shape=SHAPE, dtype="f4") as new:
        new.write(array)
    np.testing.assert_array_equal(plait.open("zarr:s3://b/folder.zip").read(), array)
    np.testing.assert_array_equal(plait.open("s3://b/folder.zip").read(), array)
    with pytest.raises(FileNotFoundError):
        plait.open(f"{server.endpoint}/public/none.zarr.zip")


@pytest.mark.parametrize("status", [403, 405])
def test_a_name_that_the_server_denies_may_be_a_folder(server, status):
    """S3 denies access to objects that do not exist if the user may not list them."""
    url = "s3://b/folder.zip/a.zarr"
    with plait.open(url, "w", shape=SHAPE, dtype="f4", chunks=CHUNK) as file:
        file.write(make_array())
    server.set_faults(absent=[status, "AccessDenied"])
    np.testing.assert_array_equal(plait.open(url).read(), make_array())
    with pytest.raises(PermissionError, match=rf"none.zip: .* answered with status {status}"):
        plait.open("s3://b/none.zip")


@pytest.mark.parametrize("faults", [{"no_etag": True}, {"weak_etag": True}], ids=str)
def test_an_archive_that_cannot_be_compared_is_read_again(server, tmp_path, faults):
    """The time of change has a resolution of a second, and the size is the same."""
    array = make_array()
    server.set_faults(**faults)
    for factor in (1, 2, 3):
        url = server.publish("w.zip", make_zip(tmp_path, {"": factor * array}, compressors=None))
        np.testing.assert_array_equal(plait.open(url).read(), factor * array)


def test_an_open_array_has_its_own_archive(server, tmp_path):
    """Opening more archives than are remembered closes none that an array uses."""
    array = make_array()
    urls = [server.publish(f"n{i}.zip", make_zip(tmp_path, {"": (i + 1) * array})) for i in range(6)]
    files = [plait.open(url) for url in urls]
    server.publish("n0.zip", make_zip(tmp_path, {"": -array}))
    np.testing.assert_array_equal(plait.open(urls[0]).read(), -array)
    for i, file in enumerate(files):
        np.testing.assert_array_equal(file.read(), (i + 1) * array)  # the last 128 KiB are in memory
        file.close()
