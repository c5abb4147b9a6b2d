"""Files of one object, and Zarr, on HTTP servers and in s3://: read by ranges, each byte once."""

import gzip
import io
import shutil
import subprocess

import numpy as np
import pytest
from object_servers import object_server, use_keys

import plait

ARRAY = np.arange(6000, dtype="f8").reshape(60, 100)


def npy_bytes(array=ARRAY):
    """Return the content of a .npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def as_s3(server, url):
    """Return the name of a public object in s3://."""
    return url.replace(f"{server.endpoint}/public/", "s3://public/")


@pytest.mark.parametrize("scheme", ["http", "s3"])
def test_npy_files_are_read(server, scheme):
    url = server.publish("a.npy", npy_bytes())
    name = url if scheme == "http" else as_s3(server, url)
    with plait.open(name) as file:
        assert (file.shape, file.dtype) == (ARRAY.shape, ARRAY.dtype)
        np.testing.assert_array_equal(file.read(), ARRAY)
        np.testing.assert_array_equal(file.read(region=np.s_[5:7, 10:20]), ARRAY[5:7, 10:20])
    for mode in ("r+", "a"):
        with pytest.raises(plait.ArgumentError):
            plait.open(name, mode)


def test_a_large_file_takes_few_requests(server):
    large = np.arange(5_000_000, dtype="f4").reshape(5000, 1000)
    url = server.publish("large.npy", npy_bytes(large))
    with plait.open(url) as file:
        assert [request["range"] for request in server.take_log()] == ["bytes=0-65535"]
        np.testing.assert_array_equal(file.read(), large)
    ranges = [request["range"] for request in server.take_log()]
    assert len(ranges) <= 12
    sizes = [1 + int(last) - int(first) for first, last in (byte_range[6:].split("-") for byte_range in ranges)]
    assert sum(sizes) == large.nbytes


def test_raw_elements_are_read(server):
    url = server.publish("a.bin", ARRAY.tobytes())
    np.testing.assert_array_equal(plait.open(url, shape=ARRAY.shape, dtype="f8").read(), ARRAY)
    np.testing.assert_array_equal(
        plait.open(url, shape=(10, 590), dtype="f8", offset=800).read().ravel(), ARRAY.ravel()[100:]
    )
    url = server.publish("without_suffix", npy_bytes())
    np.testing.assert_array_equal(plait.open(url).read(), ARRAY)


def test_archives_and_compressed_files_are_read(server, tmp_path):
    file = io.BytesIO()
    np.savez(file, x=ARRAY, y=ARRAY[0])
    url = server.publish("a.npz", file.getvalue())
    assert [array.name for array in plait.arrays_in(url)] == ["x", "y"]
    np.testing.assert_array_equal(plait.open(f"{url}::x").read(), ARRAY)
    file = io.BytesIO()
    np.savez_compressed(file, x=ARRAY)
    url = server.publish("c.npz", file.getvalue())
    np.testing.assert_array_equal(plait.open(url).read(), ARRAY)
    plait.copy(url, tmp_path / "c.zarr")
    np.testing.assert_array_equal(plait.open(tmp_path / "c.zarr").read(), ARRAY)
    url = server.publish("a.raw.gz", gzip.compress(ARRAY.tobytes()))
    np.testing.assert_array_equal(plait.open(url, shape=ARRAY.shape, dtype="f8").read(), ARRAY)


def test_safetensors_are_read(server, tmp_path):
    with plait.open(tmp_path / "m.safetensors::w", "w", shape=ARRAY.shape, dtype="f8") as file:
        file.write(ARRAY)
    url = server.publish("m.safetensors", (tmp_path / "m.safetensors").read_bytes())
    np.testing.assert_array_equal(plait.open(f"{url}::w").read(), ARRAY)


def test_classic_netcdf_files_are_read(server, tmp_path):
    scipy_io = pytest.importorskip("scipy.io")
    with scipy_io.netcdf_file(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 60)
        file.createDimension("y", 100)
        file.createVariable("v", "f8", ("x", "y"))[:] = ARRAY
    url = server.publish("a.nc", (tmp_path / "a.nc").read_bytes())
    assert [array.name for array in plait.arrays_in(url)] == ["v"]
    np.testing.assert_array_equal(plait.open(f"{url}::v").read(), ARRAY)


def test_zarr_is_read_from_a_server_that_does_not_list(server, tmp_path):
    for name in ("a", "g/b"):
        with plait.open(f"{tmp_path}/d.zarr::/{name}", "w", shape=ARRAY.shape, dtype="f8", chunks=(7, 50)) as file:
            file.write(ARRAY)
    for path in (tmp_path / "d.zarr").rglob("*"):
        if path.is_file():
            server.publish(str(path.relative_to(tmp_path)), path.read_bytes())
    url = f"{server.endpoint}/public/d.zarr"
    np.testing.assert_array_equal(plait.open(f"{url}::/g/b").read(), ARRAY)
    with pytest.raises(FileNotFoundError):
        plait.open(f"{url}::/missing")
    with pytest.raises(plait.ArgumentError, match="are only read"):
        plait.open(f"{url}::/a", "r+")


@pytest.mark.parametrize(
    "faults", [{"truncate": 2}, {"reset": 2}, {"slow_down": 2}, {"no_etag": True}, {"weak_etag": True}], ids=str
)
def test_files_are_read_despite_faults(server, faults):
    url = server.publish("a.npy", npy_bytes())
    server.set_faults(**faults)
    np.testing.assert_array_equal(plait.open(url).read(), ARRAY)


def test_servers_without_ranges_send_small_objects_only(server):
    url = server.publish("a.npy", npy_bytes())
    server.set_faults(ignore_ranges=True)
    np.testing.assert_array_equal(plait.open(url).read(), ARRAY)
    large = server.publish("large.npy", npy_bytes(np.zeros(3_000_000)))
    server.set_faults(ignore_ranges=True)
    with pytest.raises(plait.Error, match=r"ignores ranges, and the object has 22\.9 MiB; download it"):
        plait.open(large)


def test_servers_with_wrong_ranges_are_errors(server):
    url = server.publish("a.npy", npy_bytes())
    server.set_faults(wrong_range=True)
    with pytest.raises(plait.Error, match=r"answered with another range \(bytes 1-.*\) than the request bytes=0-"):
        plait.open(url)


@pytest.mark.parametrize(
    "faults", [{}, {"no_etag": True}, {"weak_etag": True}, {"no_etag": True, "grow": True}], ids=str
)
def test_a_replaced_object_is_an_error(server, faults):
    large = np.arange(3_000_000, dtype="f8")
    url = server.publish("changing.npy", npy_bytes(large))
    server.set_faults(**faults)
    with plait.open(url) as file:
        server.set_faults(**faults, change_after=2)
        with pytest.raises(plait.Error, match="another program has replaced"):
            file.read()


def test_missing_and_private_objects_are_errors(server):
    with pytest.raises(FileNotFoundError, match="there is no such object; check the name"):
        plait.open(f"{server.endpoint}/public/none.npy")
    with pytest.raises(FileNotFoundError):
        plait.open(f"{server.endpoint}/public/none.zarr")
    with pytest.raises(FileNotFoundError):
        plait.open(f"{server.endpoint}/public/none", shape=3, dtype="i4")
    with pytest.raises(PermissionError, match="status 403"):
        plait.open(f"{server.endpoint}/private/none.npy")


def test_errors_show_no_secrets_of_urls(server):
    url = server.publish("a.npy", npy_bytes())
    np.testing.assert_array_equal(plait.open(f"{url}?X-Amz-Signature=secret/word").read(), ARRAY)
    assert "secret" in server.take_log()[0]["query"]
    for name in ("none.npy", "none.npz::x", "none.zarr"):
        file, separator, array = name.partition("::")
        with pytest.raises(plait.Error) as error:
            plait.open(f"{server.endpoint}/public/{file}?sig=secret/word{separator}{array}")
        for text in (str(error.value), repr(error.value), str(getattr(error.value, "filename", ""))):
            assert "secret" not in text
            assert "word" not in text
    with plait.open(f"{url}?sig=secret") as file:
        assert "secret" not in file.explain()
    unclosed = [plait.open(f"{url}?sig=secret")]
    with pytest.warns(ResourceWarning, match="unclosed") as warned:
        unclosed.clear()
    assert not [warning for warning in warned if "secret" in str(warning.message)]
    for name in ("s3://b?endpoint=http:%2F%2Fuser:word@h/a.npy", "s3://b?endpoint=http%3A%2F%2Fuser%3Aword%40h/a.npy"):
        with pytest.raises(plait.Error) as error:
            plait.open(name)
        assert "word" not in str(error.value)


def test_certificates_are_checked(monkeypatch, tmp_path):
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    certificate_and_key = tmp_path / "both.pem"
    arguments = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    arguments += [
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        tmp_path / "key.pem",
        "-out",
        tmp_path / "own.pem",
    ]
    subprocess.run([openssl, *arguments], check=True, capture_output=True)
    certificate_and_key.write_text((tmp_path / "own.pem").read_text() + (tmp_path / "key.pem").read_text())
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with object_server(certificate_and_key) as server:
        use_keys(monkeypatch, None, tmp_path)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"https://127.0.0.1:{server.port}")
        with pytest.raises(plait.Error, match="certificate"):
            plait.open("s3://public/a.zarr")
        monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "own.pem"))
        with plait.open("s3://bucket/a.zarr", "w", shape=ARRAY.shape, dtype="f8", chunks=(10, 10)) as file:
            file.write(ARRAY)
        np.testing.assert_array_equal(plait.open("s3://bucket/a.zarr").read(), ARRAY)
