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
    """Return a server without faults and with an empty log; an HMAC key is in the environment."""
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
    """Return the server with an array; no key is in the environment."""
    write("gs://keys/a.zarr", DATA)
    monkeypatch.delenv("GS_ACCESS_KEY_ID")
    monkeypatch.delenv("GS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("GCE_METADATA_HOST", f"{LOCAL}:1")
    google.take_log()
    return google


class TokenHandler(BaseHTTPRequestHandler):
    """Issues tokens to users who have logged in and to virtual machines as Google does."""

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        login = {"grant_type": "refresh_token", "client_id": "id", "client_secret": "s+/=", "refresh_token": "r&t"}
        self.answer(form == login and self.path == "/token")

    def do_GET(self):
        expected = "/computeMetadata/v1/instance/service-accounts/default/token"
        self.answer(self.path == expected and self.headers.get("Metadata-Flavor") == "Google")

    def answer(self, is_valid):
        self.server.answers += 1
        body = json.dumps(
            {"access_token": TOKEN, "expires_in": 3599, "token_type": "Bearer"} if is_valid else {}
        ).encode()
        self.send_response(200 if is_valid else 400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Print nothing."""


@pytest.fixture
def tokens():
    server = ThreadingHTTPServer((LOCAL, 0), TokenHandler)
    server.answers = 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def write(url, array, **options):
    with plait.open(url, "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)


def read_and_find_authorizations(google):
    """Read the array, and return the schemes, such as "Bearer", of the requests' Authorization headers."""
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
    changed = plait.open(url)
    np.testing.assert_array_equal(changed.read(), np.concatenate([expected, DATA[:3]]))
    assert changed.attrs["units"] == "K"
    headers = [request["headers"] for request in google.take_log()]
    assert not [name for fields in headers for name in fields if name.startswith("x-amz-")]
    conditions = {fields.get("x-goog-if-generation-match", "none") for fields in headers}
    assert {"0", "none"} < conditions
    assert not [fields for fields in headers if "if-match" in fields and "content-length" in fields]


@pytest.mark.parametrize("array", [DATA, LARGE, LARGE[:0]], ids=["small", "large", "empty"])
def test_files_of_one_object_are_written_and_read(google, array):
    write("gs://arrays/c.npy", array)
    np.testing.assert_array_equal(plait.open("gs://arrays/c.npy").read(), array)
    assert google.send_unsigned("GET", "/-/uploads") == b"[]"


def test_a_lost_answer_to_a_completion_is_an_error(google):
    """Google's ETags do not show which parts an object has, so Plait cannot know whether the completion took effect."""
    google.set_faults(region="auto", lose_answers=1)
    with pytest.raises(plait.Error, match=r"does not show that it has the bytes of this program.*write"):
        write("gs://bucket/lost.npy?conditions=off", LARGE)
    write("gs://bucket/lost.npy", LARGE)
    np.testing.assert_array_equal(plait.open("gs://bucket/lost.npy").read(), LARGE)


def test_arrays_are_copied(google, tmp_path):
    np.save(tmp_path / "a.npy", DATA)
    plait.copy(tmp_path / "a.npy", "gs://arrays/d.zarr", chunks=(3, 4))
    plait.copy("gs://arrays/d.zarr", tmp_path / "b.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), DATA)


def test_concurrent_changes_are_not_lost(google):
    check_no_addition_is_lost("gs://arrays/e.zarr", 10)


@pytest.mark.parametrize("fault", ["ignore_create", "ignore_match"])
def test_servers_that_ignore_conditions_are_errors(google, fault):
    code = f"import plait; plait.open('gs://{fault}/a.zarr', 'w', shape=3, dtype='i4').close()"
    google.set_faults(region="auto", **{fault: True})
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "the server ignores the condition x-goog-if-generation-match" in result.stderr
    assert "as in gs://bucket/data.zarr?conditions=off" in result.stderr


def test_a_token_may_be_in_the_environment(without_keys, monkeypatch):
    for name in ("CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN"):
        monkeypatch.setenv(name, TOKEN)
        assert read_and_find_authorizations(without_keys) == {"Bearer"}
    monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "ya29.wrong")
    with pytest.raises(plait.StoreError, match="status 401; check the keys") as failed:
        plait.open("gs://keys/a.zarr")
    assert "ya29" not in str(failed.value)


def test_the_login_of_a_user_gives_a_token(without_keys, tokens, monkeypatch, tmp_path):
    login = {"client_id": "id", "client_secret": "s+/=", "refresh_token": "r&t", "type": "authorized_user"}
    login["token_uri"] = f"http://{LOCAL}:{tokens.server_port}/token"
    (tmp_path / "gcloud").mkdir()
    (tmp_path / "gcloud" / "application_default_credentials.json").write_text(json.dumps(login))
    assert read_and_find_authorizations(without_keys) == {"Bearer"}
    assert read_and_find_authorizations(without_keys) == {"Bearer"}
    assert tokens.answers == 1
    login_file = tmp_path / "other.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(login_file))
    for content, message in (
        (None, "other.json, which GOOGLE_APPLICATION_CREDENTIALS names, cannot be read"),
        ({"type": "service_account", "private_key": "secret"}, 'of the type "service_account"; expected a login'),
        ({**login, "token_uri": "http://example.com/token"}, "is no https:// URL"),
    ):
        if content is not None:
            login_file.write_text(json.dumps(content))
        with pytest.raises(plait.ArgumentError, match=message) as failed:
            plait.open("gs://keys/a.zarr")
        assert "secret" not in str(failed.value)
    login_file.write_text(json.dumps({**login, "refresh_token": "wrong"}))
    with pytest.raises(plait.StoreError, match=r"cannot get a token for the login in .*answers with the status 400"):
        plait.open("gs://keys/a.zarr")


def test_tokens_are_issued_to_a_virtual_machine(without_keys, tokens, monkeypatch):
    monkeypatch.setenv("GCE_METADATA_HOST", f"{LOCAL}:{tokens.server_port}")
    assert read_and_find_authorizations(without_keys) == {"Bearer"}
    assert tokens.answers == 1


def test_missing_credentials_are_errors(without_keys, monkeypatch):
    with pytest.raises(plait.ArgumentError, match=r"there are no credentials for this bucket .*gcloud auth"):
        plait.open("gs://keys/a.zarr")
    monkeypatch.setenv("GS_ACCESS_KEY_ID", "only one")
    with pytest.raises(plait.ArgumentError, match="only one is set; set both"):
        plait.open("gs://keys/a.zarr")


def test_public_objects_need_no_credentials(google, monkeypatch):
    write("gs://public/a.zarr", DATA)
    monkeypatch.delenv("GS_ACCESS_KEY_ID")
    monkeypatch.delenv("GS_SECRET_ACCESS_KEY")
    google.take_log()
    np.testing.assert_array_equal(plait.open("gs://public/a.zarr?anonymous=true").read(), DATA)
    assert not [request for request in google.take_log() if "authorization" in request["headers"]]


def test_options_of_the_name_apply(google):
    write("gs://arrays/f.npy?project=lab", DATA)
    np.testing.assert_array_equal(plait.open("gs://arrays/f.npy?project=lab").read(), DATA)
    assert {request["headers"].get("x-goog-user-project") for request in google.take_log()} == {"lab"}
    with pytest.raises(plait.ArgumentError, match=r"there is no option region= of gs://; the options are endpoint"):
        plait.open("gs://arrays/f.npy?region=auto")
    with pytest.raises(plait.ArgumentError, match=r"the name has no bucket; give both, as in gs://bucket/data.zarr"):
        plait.open("gs:///f.npy")


def test_zarr_in_a_zip_file_is_read(google, tmp_path):
    write(tmp_path / "a.zarr", DATA, chunks=(2, 3))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for path in (tmp_path / "a.zarr").rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(tmp_path / "a.zarr"))
    google.publish("a.zarr.zip", file.getvalue())
    np.testing.assert_array_equal(plait.open("gs://public/a.zarr.zip").read(), DATA)


def test_an_object_that_is_put_again_with_equal_bytes_can_be_changed(google, monkeypatch, tmp_path):
    """Its ETag is the same, but its generation, which puts compare, is another one."""
    monkeypatch.setenv("PLAIT_CACHE", str(tmp_path / "cache"))
    name = "gs://public/equal.zarr"
    for _ in range(2):
        write(name, DATA, chunks=DATA.shape, codec="zstd")
        np.testing.assert_array_equal(plait.open(name).read(), DATA)
        write(name, DATA, chunks=DATA.shape, codec="zstd")
        with plait.open(name, "r+") as file:  # the put of a changed part requires that the object is unchanged
            google.take_log()
            file.write(DATA[:1] + 1, region=np.s_[:1])
        assert [request["method"] for request in google.take_log()].count("PUT") == 1, (
            "the first condition is the right one"
        )
        np.testing.assert_array_equal(plait.open(name).read(), np.concatenate([DATA[:1] + 1, DATA[1:]]))


def test_cached_objects_are_validated_and_not_fetched_again(google, monkeypatch, tmp_path):
    monkeypatch.setenv("PLAIT_CACHE", str(tmp_path / "cache"))
    write("gs://public/cached.zarr", DATA, chunks=(2, 3), shards=(4, 6))
    for _ in range(2):
        google.take_log()
        np.testing.assert_array_equal(plait.open("gs://public/cached.zarr").read(), DATA)
    assert all("if-none-match" in request["headers"] for request in google.take_log() if request["method"] == "GET")
    with plait.open("gs://public/cached.zarr", "r+") as file:
        file.write(-DATA[:1], region=np.s_[:1])
    np.testing.assert_array_equal(plait.open("gs://public/cached.zarr").read()[:2], [-DATA[0], DATA[1]])
