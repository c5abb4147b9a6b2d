"""Objects of Google Cloud Storage, on a server with its interface: gs:// names, conditions, and credentials."""

import io
import json
import subprocess
import sys
import threading
import urllib.parse
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from adding import check_no_addition_is_lost
from gs_server import TOKEN
from object_servers import LOCAL, object_server
from s3_server import ACCESS, SECRET

import plait

DATA = np.arange(42, dtype="i4").reshape(6, 7)
LARGE = np.random.default_rng(1).integers(0, 1 << 30, (1500, 1999), dtype="i8")  # 24 MB: three parts
VARIABLES = (
    "GOOGLE_OAUTH_ACCESS_TOKEN",
    "CLOUDSDK_AUTH_ACCESS_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_QUOTA_PROJECT",
    "http_proxy",
)


@pytest.fixture(scope="module")
def shared_google():
    with object_server(program="gs_server.py") as server:
        yield server


@pytest.fixture
def google(shared_google, monkeypatch, tmp_path):
    """A server without faults and with an empty log, and an HMAC key in the environment."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GS_ACCESS_KEY_ID", ACCESS)
    monkeypatch.setenv("GS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"{shared_google.host}:{shared_google.port}")
    monkeypatch.setenv("NO_PROXY", LOCAL)
    shared_google.set_faults(region="auto")
    shared_google.take_log()
    return shared_google


@pytest.fixture
def without_keys(google, monkeypatch):
    """The server with an array on it, and no key in the environment."""
    write("gs://keys/a.zarr", DATA)
    monkeypatch.delenv("GS_ACCESS_KEY_ID")
    monkeypatch.delenv("GS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("GCE_METADATA_HOST", f"{LOCAL}:1")
    google.take_log()
    return google


class Tokens(BaseHTTPRequestHandler):
    """Gives tokens for a login, and to machines."""

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        login = {"grant_type": "refresh_token", "client_id": "id", "client_secret": "s+/=", "refresh_token": "r&t"}
        self.answer(form == login and self.path == "/token")

    def do_GET(self):
        expected = "/computeMetadata/v1/instance/service-accounts/default/token"
        self.answer(self.path == expected and self.headers.get("Metadata-Flavor") == "Google")

    def answer(self, right):
        self.server.count += 1
        body = json.dumps({"access_token": TOKEN, "expires_in": 3599, "token_type": "Bearer"} if right else {}).encode()
        self.send_response(200 if right else 400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Print nothing."""


@pytest.fixture
def tokens():
    server = ThreadingHTTPServer((LOCAL, 0), Tokens)
    server.count = 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def write(url, array, **options):
    with plait.open(url, "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)


def authorizations(google):
    """Read the array, and return the first words of what authorizes the requests since the last call."""
    np.testing.assert_array_equal(plait.open("gs://keys/a.zarr").read(), DATA)
    return {request["headers"].get("authorization", "none").split()[0] for request in google.take_log()}


@pytest.mark.parametrize("options", [{}, {"shards": (4, 6)}], ids=["chunks", "shards"])
def test_arrays_are_written_read_and_changed(google, options):
    url = f"gs://arrays/a b+c={len(options)}.zarr"
    write(url, DATA, chunks=(2, 3), codec="zstd:1", **options)
    with plait.open(url, "r+") as file:
        np.testing.assert_array_equal(file.read(), DATA)
        file[1, 2:5] = [-1, -2, -3]
        file.attrs["units"] = "K"
    expected = DATA.copy()
    expected[1, 2:5] = [-1, -2, -3]
    with plait.open(url, "a") as file:
        file.append(DATA[:3], axis=0)
    found = plait.open(url)
    np.testing.assert_array_equal(found.read(), np.concatenate([expected, DATA[:3]]))
    assert found.attrs["units"] == "K"
    headers = [request["headers"] for request in google.take_log()]
    assert not [name for header in headers for name in header if name.startswith("x-amz-")]
    conditions = {header.get("x-goog-if-generation-match", "none") for header in headers}
    assert {"0", "none"} < conditions
    assert not [header for header in headers if "if-match" in header and "content-length" in header]


@pytest.mark.parametrize("array", [DATA, LARGE, LARGE[:0]], ids=["small", "large", "empty"])
def test_one_object(google, array):
    write("gs://arrays/c.npy", array)
    np.testing.assert_array_equal(plait.open("gs://arrays/c.npy").read(), array)
    assert google.send_unsigned("GET", "/-/uploads") == b"[]"


def test_a_lost_answer_to_a_completion(google):
    """The ETags of Google do not show of which parts an object consists, so that the program gets an error."""
    google.set_faults(region="auto", lose_answers=1)
    with pytest.raises(plait.Error, match=r"does not show that it has the bytes of this program.*write"):
        write("gs://bucket/lost.npy?conditions=off", LARGE)
    write("gs://bucket/lost.npy", LARGE)
    np.testing.assert_array_equal(plait.open("gs://bucket/lost.npy").read(), LARGE)


def test_copies(google, tmp_path):
    np.save(tmp_path / "a.npy", DATA)
    plait.copy(tmp_path / "a.npy", "gs://arrays/d.zarr", chunks=(3, 4))
    plait.copy("gs://arrays/d.zarr", tmp_path / "b.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), DATA)


def test_no_change_is_lost(google):
    check_no_addition_is_lost("gs://arrays/e.zarr", 10)


@pytest.mark.parametrize("fault", ["ignore_create", "ignore_match"])
def test_servers_that_ignore_conditions(google, fault):
    code = f"import plait; plait.open('gs://{fault}/a.zarr', 'w', shape=3, dtype='i4').close()"
    google.set_faults(region="auto", **{fault: True})
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "the server ignores the condition x-goog-if-generation-match" in done.stderr
    assert "as in gs://bucket/data.zarr?conditions=off" in done.stderr


def test_a_token_of_the_environment(without_keys, monkeypatch):
    for name in ("CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN"):
        monkeypatch.setenv(name, TOKEN)
        assert authorizations(without_keys) == {"Bearer"}
    monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "ya29.wrong")
    with pytest.raises(plait.StoreError, match="status 401; check the keys") as failed:
        plait.open("gs://keys/a.zarr")
    assert "ya29" not in str(failed.value)


def test_the_login_of_a_user(without_keys, tokens, monkeypatch, tmp_path):
    login = {"client_id": "id", "client_secret": "s+/=", "refresh_token": "r&t", "type": "authorized_user"}
    login["token_uri"] = f"http://{LOCAL}:{tokens.server_port}/token"
    (tmp_path / "gcloud").mkdir()
    (tmp_path / "gcloud" / "application_default_credentials.json").write_text(json.dumps(login))
    assert authorizations(without_keys) == {"Bearer"}
    assert authorizations(without_keys) == {"Bearer"}
    assert tokens.count == 1
    other = tmp_path / "other.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(other))
    for content, text in (
        (None, "other.json, which GOOGLE_APPLICATION_CREDENTIALS names, cannot be read"),
        ({"type": "service_account", "private_key": "secret"}, 'of the type "service_account"; expected a login'),
        ({**login, "token_uri": "http://example.com/token"}, "is no https:// URL"),
    ):
        if content is not None:
            other.write_text(json.dumps(content))
        with pytest.raises(plait.ArgumentError, match=text) as failed:
            plait.open("gs://keys/a.zarr")
        assert "secret" not in str(failed.value)
    other.write_text(json.dumps({**login, "refresh_token": "wrong"}))
    with pytest.raises(plait.StoreError, match=r"cannot get a token for the login in .*answers with the status 400"):
        plait.open("gs://keys/a.zarr")


def test_the_token_of_a_machine(without_keys, tokens, monkeypatch):
    monkeypatch.setenv("GCE_METADATA_HOST", f"{LOCAL}:{tokens.server_port}")
    assert authorizations(without_keys) == {"Bearer"}
    assert tokens.count == 1


def test_no_credentials(without_keys, monkeypatch):
    with pytest.raises(plait.ArgumentError, match=r"there are no credentials for this bucket .*gcloud auth"):
        plait.open("gs://keys/a.zarr")
    monkeypatch.setenv("GS_ACCESS_KEY_ID", "only one")
    with pytest.raises(plait.ArgumentError, match="only one is set; set both"):
        plait.open("gs://keys/a.zarr")


def test_public_objects(google, monkeypatch):
    write("gs://public/a.zarr", DATA)
    monkeypatch.delenv("GS_ACCESS_KEY_ID")
    monkeypatch.delenv("GS_SECRET_ACCESS_KEY")
    google.take_log()
    np.testing.assert_array_equal(plait.open("gs://public/a.zarr?anonymous=true").read(), DATA)
    assert not [request for request in google.take_log() if "authorization" in request["headers"]]


def test_options(google):
    write("gs://arrays/f.npy?project=lab", DATA)
    np.testing.assert_array_equal(plait.open("gs://arrays/f.npy?project=lab").read(), DATA)
    assert {request["headers"].get("x-goog-user-project") for request in google.take_log()} == {"lab"}
    with pytest.raises(plait.ArgumentError, match=r"there is no option region= of gs://; the options are endpoint"):
        plait.open("gs://arrays/f.npy?region=auto")
    with pytest.raises(plait.ArgumentError, match=r"the name has no bucket; give both, as in gs://bucket/data.zarr"):
        plait.open("gs:///f.npy")


def test_zarr_in_a_zip_file(google, tmp_path):
    write(tmp_path / "a.zarr", DATA, chunks=(2, 3))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for path in (tmp_path / "a.zarr").rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(tmp_path / "a.zarr"))
    google.publish("a.zarr.zip", file.getvalue())
    np.testing.assert_array_equal(plait.open("gs://public/a.zarr.zip").read(), DATA)


def test_an_object_is_put_again_with_equal_bytes(google, monkeypatch, tmp_path):
    """Its ETag is the same, but its generation, which puts compare, is another one."""
    monkeypatch.setenv("PLAIT_CACHE", str(tmp_path / "cache"))
    name = "gs://public/equal.zarr"
    for _ in range(2):
        write(name, DATA, chunks=DATA.shape, codec="zstd")
        np.testing.assert_array_equal(plait.open(name).read(), DATA)
        write(name, DATA, chunks=DATA.shape, codec="zstd")
        with plait.open(name, "r+") as file:  # a change of a part has the condition that the rest is the same
            google.take_log()
            file.write(DATA[:1] + 1, region=np.s_[:1])
        assert [request["method"] for request in google.take_log()].count("PUT") == 1, (
            "the first condition is the right one"
        )
        np.testing.assert_array_equal(plait.open(name).read(), np.concatenate([DATA[:1] + 1, DATA[1:]]))


def test_a_cache(google, monkeypatch, tmp_path):
    monkeypatch.setenv("PLAIT_CACHE", str(tmp_path / "cache"))
    write("gs://public/cached.zarr", DATA, chunks=(2, 3), shards=(4, 6))
    for _ in range(2):
        google.take_log()
        np.testing.assert_array_equal(plait.open("gs://public/cached.zarr").read(), DATA)
    assert all("if-none-match" in request["headers"] for request in google.take_log() if request["method"] == "GET")
    with plait.open("gs://public/cached.zarr", "r+") as file:
        file.write(-DATA[:1], region=np.s_[:1])
    np.testing.assert_array_equal(plait.open("gs://public/cached.zarr").read()[:2], [-DATA[0], DATA[1]])
