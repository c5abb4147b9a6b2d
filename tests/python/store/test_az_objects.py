"""Objects of Azure Blob Storage, on Azurite: az:// names, conditions, and credentials."""

import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from adding import check_no_addition_is_lost
from azurite import ACCOUNT, KEY, PROGRAM, azurite, shared_access
from object_servers import LOCAL

import plait
from plait import _core

DATA = np.arange(42, dtype="i4").reshape(6, 7)
LARGE = np.random.default_rng(1).integers(0, 1 << 30, (1500, 1999), dtype="i8")  # 24 MB: three parts
VARIABLES = (
    *(f"AZURE_STORAGE_{name}" for name in ("ACCOUNT", "KEY", "SAS_TOKEN", "CONNECTION_STRING", "TOKEN")),
    *(f"AZURE_{name}" for name in ("CLIENT_ID", "CLIENT_SECRET", "TENANT_ID", "FEDERATED_TOKEN_FILE")),
    "http_proxy",
)
needs_azurite = pytest.mark.skipif(PROGRAM is None, reason="azurite is not installed: it needs npm")


@pytest.fixture(scope="module")
def shared_azurite(tmp_path_factory):
    with azurite(tmp_path_factory.mktemp("azurite")) as server:
        server.make_container("data")
        server.make_container("open", public=True)
        yield server


@pytest.fixture
def environment(monkeypatch):
    """Remove the user's own settings for Azure, and return the monkeypatch for others."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT)
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", f"http://{LOCAL}:1")
    monkeypatch.setenv("NO_PROXY", LOCAL)
    return monkeypatch


@pytest.fixture
def azure(shared_azurite, environment):
    """Return the server; the key of its account is in the environment."""
    environment.setenv("AZURE_STORAGE_BLOB_ENDPOINT", shared_azurite.endpoint)
    environment.setenv("AZURE_STORAGE_ACCOUNT_KEY", KEY)
    return shared_azurite


def write(url, array, **options):
    with plait.open(url, "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)


@needs_azurite
@pytest.mark.parametrize("options", [{}, {"shards": (4, 6)}], ids=["chunks", "shards"])
def test_arrays_are_written_read_and_changed(azure, options):
    url = f"az://data/a b+c=ü{len(options)}.zarr"
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


@needs_azurite
def test_hierarchies_are_copied_listed_and_removed(azure, tmp_path):
    np.savez(tmp_path / "h.npz", u=DATA, **{"group/v": DATA})
    plait.copy(tmp_path / "h.npz", "az://data/h.zarr")
    assert sorted(array.name for array in plait.arrays_in("az://data/h.zarr")) == ["group/v", "u"]
    assert all(array.stored == DATA.nbytes + len(read_metadata("h.zarr/" + array.name)) for array in
               plait.arrays_in("az://data/h.zarr", sizes=True))  # fmt: skip
    plait.copy("az://data/h.zarr", tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as archive:
        np.testing.assert_array_equal(archive["group/v"], DATA)
    for name in _core.open_objects("az://data/h.zarr").names():
        _core.open_objects("az://data/h.zarr").remove(name)
    assert list(_core.open_objects("az://data/h.zarr").names()) == []


def read_metadata(array):
    return _core.open_objects("az://data").get(f"{array}/zarr.json")


@needs_azurite
@pytest.mark.parametrize("array", [DATA, LARGE, LARGE[:0]], ids=["small", "large", "empty"])
def test_files_of_one_object_are_written_and_read(azure, array):
    write("az://data/c.npy", array)
    np.testing.assert_array_equal(plait.open("az://data/c.npy").read(), array)


@needs_azurite
@pytest.mark.parametrize("array", [DATA, LARGE], ids=["small", "large"])
def test_of_two_programs_that_make_an_object_one_fails(azure, array):
    url = f"az://data/two-{array.size}.npy"
    first = plait.open(url, "w", shape=array.shape, dtype=array.dtype)
    second = plait.open(url, "w", shape=array.shape, dtype=array.dtype)
    first.write(array)
    second.write(array + 1)
    first.close()
    with pytest.raises(plait.StoreError, match="has appeared since it was opened"):
        second.close()
    np.testing.assert_array_equal(plait.open(url).read(), array)


@needs_azurite
def test_concurrent_changes_are_not_lost(azure):
    check_no_addition_is_lost("az://data/e.zarr", 5)


@needs_azurite
def test_an_object_that_is_replaced_while_it_is_read_is_an_error(azure):
    write("az://data/f.npy", LARGE)
    with plait.open("az://data/f.npy") as file:
        write("az://data/f.npy", LARGE + 1)
        with pytest.raises(plait.StoreError, match="another program has"):
            file.read()


@needs_azurite
def test_public_objects_and_shared_access_need_no_key(azure, environment):
    write("az://open/a.zarr", DATA)
    write("az://data/g.zarr", DATA)
    environment.delenv("AZURE_STORAGE_ACCOUNT_KEY")
    np.testing.assert_array_equal(plait.open("az://open/a.zarr?anonymous=true").read(), DATA)
    environment.setenv("AZURE_STORAGE_SAS_TOKEN", "?" + shared_access("data"))
    with plait.open("az://data/g.zarr", "r+") as file:
        file.write(DATA + 1)
    np.testing.assert_array_equal(plait.open("az://data/g.zarr").read(), DATA + 1)
    environment.setenv("AZURE_STORAGE_SAS_TOKEN", shared_access("data").replace("sig=", "sig=x"))
    with pytest.raises(plait.StoreError, match="check the account, its key or token") as failed:
        plait.open("az://data/g.zarr")
    assert "sig" not in str(failed.value)


@needs_azurite
def test_a_connection_string_has_all_settings(azure, environment):
    write("az://data/h.npy", DATA)
    for name in ("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_BLOB_ENDPOINT"):
        environment.delenv(name)
    fields = f"AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={azure.endpoint};DefaultEndpointsProtocol=http"
    environment.setenv("AZURE_STORAGE_CONNECTION_STRING", fields)
    np.testing.assert_array_equal(plait.open("az://data/h.npy").read(), DATA)


@needs_azurite
def test_errors_name_the_object_and_no_secrets(azure, environment):
    with pytest.raises(plait.StoreError, match=r"az://data/none\.npy"):
        plait.open("az://data/none.npy")
    with pytest.raises(plait.StoreError, match="ContainerNotFound"):
        write("az://none/a.zarr", DATA)
    environment.setenv("AZURE_STORAGE_ACCOUNT_KEY", "b3RoZXIga2V5")  # base64 of "other key"
    with pytest.raises(plait.StoreError, match=r"status 403.*check the account, its key or token") as failed:
        write("az://data/a.zarr", DATA)
    assert "b3RoZXIga2V5" not in str(failed.value)


class TokenHandler(BaseHTTPRequestHandler):
    """Issues tokens to applications and virtual machines as Azure does; it has no blobs."""

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        is_app = form.pop("grant_type") == "client_credentials" and form.pop("client_id") == "app"
        proofs = ({"client_secret": "s+/="}, {"client_assertion": "federated", "client_assertion_type":
                  "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"})  # fmt: skip
        is_for_storage = form.pop("scope") == "https://storage.azure.com/.default"
        is_token_path = self.path == "/tenant/oauth2/v2.0/token"
        self.answer(is_app and is_for_storage and form in proofs and is_token_path, 3599)

    def do_GET(self):
        if not self.path.startswith("/metadata/"):
            return self.answer_for_blob()
        path, _, query = self.path.partition("?")
        expected = {"api-version": "2018-02-01", "resource": "https://storage.azure.com/"}
        is_valid = dict(urllib.parse.parse_qsl(query)) == expected and path == "/metadata/identity/oauth2/token"
        return self.answer(is_valid and self.headers.get("Metadata") == "true", "3599")

    def answer(self, is_valid, lifetime):
        body = json.dumps({"access_token": "the-token", "expires_in": lifetime} if is_valid else {}).encode()
        self.send_response(200 if is_valid else 400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_for_blob(self):
        self.server.authorizations.add(self.headers.get("Authorization"))
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_PUT = answer_for_blob  # noqa: N815

    def log_message(self, *args):
        """Print nothing."""


@pytest.fixture
def tokens(environment):
    server = ThreadingHTTPServer((LOCAL, 0), TokenHandler)
    server.authorizations = set()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.url = f"http://{LOCAL}:{server.server_port}"
    environment.setenv("AZURE_STORAGE_BLOB_ENDPOINT", f"{server.url}/{ACCOUNT}")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def find_authorizations(tokens):
    """Try to open an object, and return the Authorization headers of the requests."""
    with pytest.raises(plait.StoreError, match=r"az://data/a\.npy"):
        plait.open("az://data/a.npy")
    sent, tokens.authorizations = tokens.authorizations, set()
    return sent


def test_tokens_are_fixed_or_issued_to_an_application(tokens, environment, tmp_path):
    environment.setenv("AZURE_STORAGE_TOKEN", "fixed")
    assert find_authorizations(tokens) == {"Bearer fixed"}
    environment.delenv("AZURE_STORAGE_TOKEN")
    environment.setenv("AZURE_CLIENT_ID", "app")
    environment.setenv("AZURE_TENANT_ID", "tenant")
    environment.setenv("AZURE_AUTHORITY_HOST", tokens.url + "/")
    environment.setenv("AZURE_CLIENT_SECRET", "s+/=")
    assert find_authorizations(tokens) == {"Bearer the-token"}
    environment.delenv("AZURE_CLIENT_SECRET")
    (tmp_path / "token").write_text("federated\n")
    environment.setenv("AZURE_FEDERATED_TOKEN_FILE", str(tmp_path / "token"))
    assert find_authorizations(tokens) == {"Bearer the-token"}
    environment.setenv("AZURE_AUTHORITY_HOST", "http://example.com")
    with pytest.raises(plait.ArgumentError, match="AZURE_AUTHORITY_HOST is no https:// URL"):
        plait.open("az://data/a.npy")


def test_tokens_are_issued_to_a_virtual_machine(tokens, environment):
    environment.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", tokens.url)
    assert find_authorizations(tokens) == {"Bearer the-token"}


def test_missing_and_wrong_settings_are_errors(environment):
    with pytest.raises(plait.ArgumentError, match=r"no credentials for this container .*AZURE_STORAGE_ACCOUNT_KEY"):
        plait.open("az://data/a.npy")
    environment.setenv("AZURE_STORAGE_ACCOUNT_KEY", "not base64!")
    with pytest.raises(plait.ArgumentError, match="the key of the account is not in base64"):
        plait.open("az://data/a.npy")
    environment.delenv("AZURE_STORAGE_ACCOUNT_NAME")
    with pytest.raises(plait.ArgumentError, match="set AZURE_STORAGE_ACCOUNT_NAME, or write"):
        plait.open("az://data/a.npy")
    with pytest.raises(plait.ArgumentError, match="there is no option region= of az://; the options are account"):
        plait.open("az://data/a.npy?region=x")
    for endpoint in ("127.0.0.1:10000", "http://"):
        environment.setenv("AZURE_STORAGE_BLOB_ENDPOINT", endpoint)
        with pytest.raises(plait.ArgumentError, match="the endpoint is not the URL of a server"):
            plait.open("az://data/a.npy?anonymous=true")


@needs_azurite
def test_objects_are_cached_until_they_change(azure, environment, tmp_path):
    environment.setenv("PLAIT_CACHE", str(tmp_path / "cache"))
    for name in ("az://data/cached.npy", "az://data/cached.zarr"):
        write(name, LARGE)
        for _ in range(2):
            np.testing.assert_array_equal(plait.open(name).read(), LARGE)
        write(name, LARGE + 1)
        np.testing.assert_array_equal(plait.open(name).read(), LARGE + 1)
    # The entries of the cache have 128 KiB at most.
    assert len(list((tmp_path / "cache").glob("plait-cache-v1/??/*"))) > 2 * LARGE.nbytes // (128 << 10)
