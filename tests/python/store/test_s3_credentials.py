"""Keys of s3:// that are neither in the environment nor in a profile.

A program prints them (credential_process), or a server issues them: for a web identity, to a container, or to an
instance, which is a virtual machine. The keys of credential_server.py have the session tokens session-1, session-2, ...
"""

import json
import shlex
import sys
import time

import numpy as np
import pytest
from credential_server import credential_server
from s3_faults import REGION
from s3_server import ACCESS, SECRET

import plait

DATA = np.arange(12, dtype="i4").reshape(3, 4)
ROLE = "arn:aws:iam::123456789012:role/reader"


@pytest.fixture
def objects(server, monkeypatch):
    """Return the object server with an array; no keys are in the environment."""
    with plait.open("s3://keys/a.zarr", "w", shape=DATA.shape, dtype=DATA.dtype) as file:
        file.write(DATA)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    server.take_log()
    return server


@pytest.fixture
def keys():
    """Run a server that issues keys."""
    with credential_server() as server:
        yield server


def read_and_find_sessions(objects):
    """Read the array, and return the session tokens of all requests since the last call."""
    np.testing.assert_array_equal(plait.open("s3://keys/a.zarr").read(), DATA)
    return {request["headers"].get("x-amz-security-token") for request in objects.take_log()}


def use_process(monkeypatch, tmp_path, code, profile="default"):
    """Name a program that runs Python code as the one that prints the keys."""
    (tmp_path / "print_keys.py").write_text(code)
    section = profile if profile == "default" else f"profile {profile}"
    command = shlex.join([sys.executable, str(tmp_path / "print_keys.py"), "--password=hidden"])
    (tmp_path / "config").write_text(f"[{section}]\nregion = {REGION}\ncredential_process = {command}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))


def use_role(monkeypatch, tmp_path, keys):
    (tmp_path / "token").write_text("web+token/=\n")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"{keys.url}/")


def use_container(monkeypatch, keys):
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{keys.url}/container")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "container-token")


def use_instance(monkeypatch, keys):
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", keys.url)


def key_program(**members):
    """Return the code of a program that prints keys."""
    answer = {"Version": 1, "AccessKeyId": ACCESS, "SecretAccessKey": SECRET, "SessionToken": "printed", **members}
    return f"print({json.dumps(answer)!r})\n"


@pytest.mark.parametrize("expires", [{}, {"Expiration": "2999-01-01T00:00:00+02:00"}, {"Expiration": None}])
def test_a_program_prints_keys(objects, monkeypatch, tmp_path, expires):
    count = tmp_path / "count"
    code = f"open({str(count)!r}, 'a').write('x')\n" + key_program(**expires)
    use_process(monkeypatch, tmp_path, code)
    assert read_and_find_sessions(objects) == {"printed"}
    assert read_and_find_sessions(objects) == {"printed"}
    assert count.read_text() == "x", "the keys are cached"


def test_a_program_may_be_that_of_a_named_profile(objects, monkeypatch, tmp_path):
    use_process(monkeypatch, tmp_path, key_program(), "lab")
    with pytest.raises(plait.ArgumentError, match="there are no keys for this bucket; set AWS_ACCESS_KEY_ID"):
        plait.open("s3://keys/a.zarr")
    np.testing.assert_array_equal(plait.open("s3://keys/a.zarr?profile=lab").read(), DATA)
    monkeypatch.setenv("AWS_PROFILE", "lab")
    assert read_and_find_sessions(objects) == {"printed"}


def test_keys_that_a_program_prints_are_renewed(objects, monkeypatch, tmp_path):
    count = tmp_path / "count"
    code = f"""
import datetime, json, pathlib
count = pathlib.Path({str(count)!r})
number = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(number))
end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2 if number == 1 else 3600)
print(json.dumps({{"Version": 1, "AccessKeyId": {ACCESS!r}, "SecretAccessKey": {SECRET!r},
                  "SessionToken": f"printed-{{number}}", "Expiration": end.isoformat()}}))
"""
    use_process(monkeypatch, tmp_path, code)
    assert read_and_find_sessions(objects) == {"printed-1"}
    time.sleep(2.1)
    assert read_and_find_sessions(objects) == {"printed-2"}
    assert count.read_text() == "2"


def test_children_of_programs_are_not_waited_for(objects, monkeypatch, tmp_path):
    code = "import subprocess\nsubprocess.Popen(['sleep', '10'])\n" + key_program()
    use_process(monkeypatch, tmp_path, code)
    begin = time.monotonic()
    assert read_and_find_sessions(objects) == {"printed"}
    assert time.monotonic() - begin < 8


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; print('hidden'); sys.exit(3)", "it has ended with the status 3"),
        ("import os; os.kill(os.getpid(), 9)", "it has ended with the (signal 9|status 137)"),
        ("print('hidden')", "the answer is not a JSON object"),
        (key_program(Version=2), "the answer does not have the Version 1"),
        (key_program(SecretAccessKey=""), "the answer has no keys; expected AccessKeyId and SecretAccessKey"),
        (key_program(Expiration="soon"), "Expiration is not a time; expected one such as 2026-11-29T10:00:00Z"),
        (key_program(SessionToken="hidden\r\nx-evil: 1"), "the keys have line breaks"),
    ],
)
def test_programs_that_print_no_keys_are_errors(objects, monkeypatch, tmp_path, code, reason):
    use_process(monkeypatch, tmp_path, code)
    with pytest.raises(plait.Error, match=f"credential_process of the profile default: {reason}") as caught:
        plait.open("s3://keys/a.zarr")
    assert "hidden" not in str(caught.value)
    assert SECRET not in str(caught.value)
    assert not objects.take_log()


def test_keys_are_issued_for_a_web_identity(objects, keys, monkeypatch, tmp_path):
    use_role(monkeypatch, tmp_path, keys)
    monkeypatch.setenv("AWS_ROLE_SESSION_NAME", "night-run")
    assert read_and_find_sessions(objects) == {"session-1"}
    assert read_and_find_sessions(objects) == {"session-1"}
    method, path, headers, body = keys.requests[0]
    assert (method, path, len(keys.requests)) == ("POST", "/", 1)
    assert headers["content-type"] == "application/x-www-form-urlencoded"
    assert "authorization" not in headers
    assert "RoleSessionName=night-run" in body


def test_a_profile_may_name_a_web_identity(objects, keys, monkeypatch, tmp_path):
    use_role(monkeypatch, tmp_path, keys)
    for name in ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"):
        monkeypatch.delenv(name)
    (tmp_path / "config").write_text(
        f"[default]\nrole_arn = {ROLE}\nweb_identity_token_file = {tmp_path / 'token'}\nregion = {REGION}\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    assert read_and_find_sessions(objects) == {"session-1"}


def test_tokens_of_web_identities_are_read_again(objects, keys, monkeypatch, tmp_path):
    use_role(monkeypatch, tmp_path, keys)
    keys.lifetime = 2
    assert read_and_find_sessions(objects) == {"session-1"}
    (tmp_path / "token").write_text("expired-token")
    time.sleep(3)
    with pytest.raises(plait.Error, match=r"status 400 \(InvalidIdentityToken\); check the role") as caught:
        plait.open("s3://keys/a.zarr")
    assert "expired-token" not in str(caught.value)
    (tmp_path / "token").write_text("web+token/=")
    assert read_and_find_sessions(objects) == {"session-2"}


def test_web_identities_without_keys_are_errors(objects, keys, monkeypatch, tmp_path):
    use_role(monkeypatch, tmp_path, keys)
    monkeypatch.delenv("AWS_ROLE_ARN")
    with pytest.raises(plait.ArgumentError, match="token file of a web identity but no role; set AWS_ROLE_ARN"):
        plait.open("s3://keys/a.zarr")
    monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
    (tmp_path / "token").write_text("\n")
    with pytest.raises(plait.Error, match="token with its token is missing, empty or not readable"):
        plait.open("s3://keys/a.zarr")
    (tmp_path / "token").write_text("web+token/=")
    keys.body = b"<R><AccessKeyId>hidden</AccessKeyId></R>"
    with pytest.raises(plait.Error, match="the answer has no keys") as caught:
        plait.open("s3://keys/a.zarr")
    assert "hidden" not in str(caught.value)
    keys.body = (
        b"<R><AccessKeyId>a</AccessKeyId><SecretAccessKey>b</SecretAccessKey><SessionToken>hidden\nx</SessionToken>"
        b"<Expiration>2999-01-01T00:00:00Z</Expiration></R>"
    )
    with pytest.raises(plait.Error, match="the keys have line breaks") as caught:
        plait.open("s3://keys/a.zarr")
    assert "hidden" not in str(caught.value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "sts.example.org")
    with pytest.raises(plait.ArgumentError, match="AWS_ENDPOINT_URL_STS is not the URL of a server"):
        plait.open("s3://keys/a.zarr")
    monkeypatch.delenv("AWS_ENDPOINT_URL_STS")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://objects.example.org")
    with pytest.raises(plait.ArgumentError, match="others could read it; set AWS_ENDPOINT_URL_STS"):
        plait.open("s3://keys/a.zarr")


@pytest.mark.parametrize("in_file", [False, True])
def test_keys_are_issued_to_a_container(objects, keys, monkeypatch, tmp_path, in_file):
    use_container(monkeypatch, keys)
    if in_file:
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "another")
        (tmp_path / "token").write_text("container-token")
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(tmp_path / "token"))
    assert read_and_find_sessions(objects) == {"session-1"}
    assert keys.requests[0][2]["authorization"] == "container-token"


@pytest.mark.parametrize("use", [use_container, use_instance])
def test_keys_do_not_pass_through_proxies(objects, keys, monkeypatch, use):
    keys.url = keys.url.replace("127.0.0.1", "localhost")  # only the other name is in no_proxy
    use(monkeypatch, keys)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert read_and_find_sessions(objects) == {"session-1"}


def test_relative_addresses_of_containers_must_be_paths(objects, monkeypatch):
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "v2/keys")
    with pytest.raises(plait.ArgumentError, match="RELATIVE_URI is not a path; begin it with /"):
        plait.open("s3://keys/a.zarr")


@pytest.mark.long
def test_relative_addresses_have_a_fixed_server(objects, monkeypatch):
    """No host here has its address, so that the error shows the URL."""
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/hidden?id=hidden")
    with pytest.raises(plait.Error, match=r"of the container from http://169\.254\.170\.2: ") as caught:
        plait.open("s3://keys/a.zarr")
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/k",
        "http://169.254.170.3/k",
        "http://127.example.org/k",
        "http://localhost@h/k",
        "http://localhost:80@evil.com/x",
        "http://[::1]@evil.com/x",
        "http://localhost\\@h/k",
        "http://localhost#@h/k",
        "ftp://[::1]/k",
    ],
)
def test_keys_of_containers_are_not_requested_from_others(objects, monkeypatch, url):
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url)
    with pytest.raises(plait.ArgumentError, match="AWS_CONTAINER_CREDENTIALS_FULL_URI is neither"):
        plait.open("s3://keys/a.zarr")


def test_containers_without_keys_are_errors(objects, keys, monkeypatch):
    use_container(monkeypatch, keys)
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "hidden-token")
    with pytest.raises(plait.Error, match="the server answers with the status 403; check the role") as caught:
        plait.open("s3://keys/a.zarr")
    assert "hidden" not in str(caught.value)
    assert "/container" not in str(caught.value), "a path may be what authorizes the request"
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "two\r\nlines")
    with pytest.raises(plait.Error, match="its token has several lines"):
        plait.open("s3://keys/a.zarr")


def test_keys_are_issued_to_an_instance(objects, keys, monkeypatch):
    use_instance(monkeypatch, keys)
    assert read_and_find_sessions(objects) == {"session-1"}
    assert [request[:2] for request in keys.requests[:2]] == [
        ("PUT", "/latest/api/token"),
        ("GET", "/latest/meta-data/iam/security-credentials/"),
    ]
    assert len(keys.requests) == 3


def test_failed_requests_of_instances_are_repeated(objects, keys, monkeypatch):
    use_instance(monkeypatch, keys)
    keys.failures = 2
    assert read_and_find_sessions(objects) == {"session-1"}
    assert len(keys.requests) == 5


def test_instances_that_do_not_answer_are_given_up_soon(objects, keys, monkeypatch):
    use_instance(monkeypatch, keys)
    keys.delay = 20
    begin = time.monotonic()
    with pytest.raises(plait.ArgumentError, match=r"no keys for this bucket \(cannot get keys of this instance from"):
        plait.open("s3://keys/a.zarr")
    assert time.monotonic() - begin < 5
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    count = len(keys.requests)
    with pytest.raises(plait.ArgumentError, match="there are no keys for this bucket; set AWS_ACCESS_KEY_ID"):
        plait.open("s3://keys/a.zarr")
    assert len(keys.requests) == count


def test_keys_are_renewed_while_a_file_is_open(objects, keys, monkeypatch):
    use_instance(monkeypatch, keys)
    keys.lifetime = 2
    with plait.open("s3://keys/a.zarr") as file:
        keys.lifetime = 3600
        objects.take_log()
        time.sleep(2.1)
        np.testing.assert_array_equal(file.read(), DATA)
        assert {request["headers"]["x-amz-security-token"] for request in objects.take_log()} == {"session-2"}


def test_keys_are_used_until_they_expire(objects, keys, monkeypatch):
    use_instance(monkeypatch, keys)
    keys.lifetime = 4
    with plait.open("s3://keys/a.zarr") as file:
        keys.status = 500
        time.sleep(2.1)
        np.testing.assert_array_equal(file.read(), DATA)
        assert len(keys.requests) == 4, "a renewal has failed"
        time.sleep(2.1)
        with pytest.raises(plait.Error, match=r"of this instance from .*: the server answers with the status 500"):
            file.read()
        keys.status = 200
        keys.lifetime = 3600
        np.testing.assert_array_equal(file.read(), DATA)


def test_sources_of_keys_have_an_order(objects, keys, monkeypatch, tmp_path):
    """Each source precedes those that are configured before it here."""
    use_instance(monkeypatch, keys)
    assert read_and_find_sessions(objects) == {"session-1"}
    use_container(monkeypatch, keys)
    assert read_and_find_sessions(objects) == {"session-2"}
    use_role(monkeypatch, tmp_path, keys)
    assert read_and_find_sessions(objects) == {"session-3"}
    use_process(monkeypatch, tmp_path, key_program())
    assert read_and_find_sessions(objects) == {"printed"}
    (tmp_path / "keys").write_text(
        f"[default]\naws_access_key_id = {ACCESS}\naws_secret_access_key = {SECRET}\naws_session_token = profile\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "keys"))
    assert read_and_find_sessions(objects) == {"profile"}
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    assert read_and_find_sessions(objects) == {None}


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_half_a_key_is_an_error(objects, monkeypatch, tmp_path, name):
    (tmp_path / "keys").write_text(f"[default]\n{name.lower()} = hidden\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "keys"))
    expected = "has an? (access|secret) key without an? (secret|access) key; set both or neither"
    with pytest.raises(plait.ArgumentError, match=f"the profile default {expected}") as caught:
        plait.open("s3://keys/a.zarr")
    assert "hidden" not in str(caught.value)
    monkeypatch.setenv(name, "hidden")
    with pytest.raises(plait.ArgumentError, match=f"the environment {expected}"):
        plait.open("s3://keys/a.zarr")


@pytest.mark.parametrize(
    "setting",
    [
        "role_arn = arn:x\nsource_profile = a",
        "role_arn = arn:x\nsource_profile = a\naws_access_key_id = a\naws_secret_access_key = b",
        "sso_session = lab",
    ],
)
def test_profiles_of_other_kinds_are_errors(objects, keys, monkeypatch, tmp_path, setting):
    use_instance(monkeypatch, keys)
    (tmp_path / "config").write_text(f"[profile lab]\n{setting}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "lab")
    with pytest.raises(plait.ArgumentError, match="aws configure export-credentials --profile lab"):
        plait.open("s3://keys/a.zarr")
    assert not keys.requests
