"""Names of objects on servers, and how options, environment variables and profiles determine the server and keys."""

import numpy as np
import pytest
from s3_faults import REGION
from s3_server import ACCESS, SECRET

import plait

DATA = np.arange(6, dtype="i4")


def write(url):
    with plait.open(url, "w", shape=DATA.shape, dtype=DATA.dtype) as file:
        file.write(DATA)


def test_options_follow_the_name(server, monkeypatch):
    write("s3://options/d.zarr::/g/a")
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    monkeypatch.delenv("AWS_REGION")
    options = f"endpoint={server.endpoint}&region={REGION}"
    for name in (f"s3://options/d.zarr?{options}::/g/a", f"s3://options/d.zarr::/g/a?{options}"):
        np.testing.assert_array_equal(plait.open(name).read(), DATA)
    np.testing.assert_array_equal(plait.open(f"zarr:s3://options/d.zarr/g/a?{options}").read(), DATA)
    url = f"s3://options/d.zarr?{options}"
    assert [info.name for info in plait.arrays_in(url)] == ["g/a"]
    assert [group.name for group in plait.groups_in(url)] == ["", "g"]


def test_profiles_have_keys_and_the_server(server, monkeypatch, tmp_path):
    write("s3://profiles/a.zarr")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_REGION"):
        monkeypatch.delenv(name)
    with pytest.raises(plait.ArgumentError, match="there are no keys for this bucket; set AWS_ACCESS_KEY_ID"):
        plait.open("s3://profiles/a.zarr")
    (tmp_path / "keys").write_text(
        f"# comment\n[other]\naws_access_key_id = x\n[lab]\naws_access_key_id = {ACCESS}\n"
        f"aws_secret_access_key={SECRET}\n"
    )
    (tmp_path / "config").write_text(
        f"[default]\nregion = nowhere\n[profile lab]\nregion = {REGION}\nendpoint_url = {server.endpoint}/\n"
        "s3 =\n  addressing_style = path\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "keys"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    np.testing.assert_array_equal(plait.open("s3://profiles/a.zarr?profile=lab").read(), DATA)
    monkeypatch.setenv("AWS_PROFILE", "lab")
    np.testing.assert_array_equal(plait.open("s3://profiles/a.zarr").read(), DATA)
    monkeypatch.setenv("AWS_PROFILE", "missing")
    with pytest.raises(plait.ArgumentError, match="have no profile missing"):
        plait.open("s3://profiles/a.zarr")


def test_anonymous_requests_have_no_signature(server, monkeypatch):
    write("s3://public/a.zarr")  # the server accepts requests without a signature for this bucket
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    server.take_log()
    np.testing.assert_array_equal(plait.open("s3://public/a.zarr?anonymous=true").read(), DATA)
    assert not [request for request in server.take_log() if "authorization" in request["headers"]]
    write("s3://public/b.zarr?anonymous")


def test_virtual_style_puts_the_bucket_into_the_host(server):
    write("s3://styles/a.zarr")
    server.take_log()
    name = f"s3://127/a.zarr?style=virtual&endpoint=http://0.0.1:{server.port}"
    with pytest.raises(plait.Error):
        plait.open(name)  # the host 127.0.0.1 answers, but the path lacks the bucket
    log = server.take_log()
    assert {request["path"] for request in log} >= {"/a.zarr/zarr.json"}
    assert log[0]["headers"]["host"] == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("s3://b/a.zarr?regions=x", "there is no option regions= of s3://; the options are endpoint, region, "),
        ("s3://b/a.zarr?region=x&region=y", "the option region= is given twice"),
        ("s3://b/a.zarr?style=dots", "style=dots is neither path nor virtual"),
        ("s3://b/a.zarr?anonymous=maybe", "anonymous=maybe is neither true nor false"),
        ("s3://b/a.zarr?endpoint=127.0.0.1:9000", "the endpoint is not the URL of a server"),
        ("s3://b/a.zarr?endpoint=http://user:word@h", "the endpoint is not the URL of a server"),
        ("s3://b", "no key after the bucket"),
        ("s3:///a.zarr", "the name has no bucket"),
        ("s3://b//a.zarr", '"" is no part of the key'),
        ("s3://b/../a.zarr", '".." is no part of the key'),
        (
            "abfs://b/a.zarr",
            "has no object store for abfs://; the schemes that it knows: memory, s3, gs, az, http and https",
        ),
    ],
)
def test_wrong_names_are_errors(server, name, message):
    for call in (plait.open, plait.arrays_in, lambda url: plait.copy(url, "never.npy")):
        with pytest.raises(plait.ArgumentError) as error:
            call(name)
        assert message in str(error.value)


@pytest.mark.parametrize("name", ["a.npy", "a.h5::/x", "a.nc::x", "a.npz::x", "a.bin", "a.gz"])
def test_new_files_by_http_are_errors(server, name):
    with pytest.raises(plait.ArgumentError, match="are only read; write to a file or to an object store such as s3://"):
        plait.open(f"{server.endpoint}/public/{name}", "w", shape=3, dtype="i4")
