"""Runs object servers (s3_server.py) as child processes, controls them, and sets their keys in the environment."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from s3_faults import REGION
from s3_server import ACCESS, SECRET

LOCAL = "127.0.0.1"


class ObjectServer:
    """The client's side of a server that runs s3_server.py: sets its faults and reads its log of requests."""

    def __init__(self, port: int, host: str = LOCAL) -> None:
        self.port, self.host = port, host
        self.endpoint = f"http://{host}:{port}"

    def send_unsigned(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Send a request without a signature, and return the body of the answer, which must be a success."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        connection.request(method, path, body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        assert answer.status < 300, (method, path, answer.status, content)
        return content

    def set_faults(self, **faults: Any) -> None:
        """Switch on these faults (s3_faults.py) and switch off all others."""
        self.send_unsigned("PUT", "/-/faults", json.dumps(faults).encode())

    def take_log(self) -> list[dict[str, Any]]:
        """Return the requests since the last call, and clear the server's list of them."""
        return json.loads(self.send_unsigned("GET", "/-/log"))

    def publish(self, name: str, content: bytes) -> str:
        """Put an object that needs no signature, and return its URL."""
        self.send_unsigned("PUT", f"/public/{name}", content)
        self.take_log()
        return f"{self.endpoint}/public/{name}"


def use_keys(monkeypatch: pytest.MonkeyPatch, server: ObjectServer | None, tmp_path: Path) -> None:
    """Set the environment variables of S3 clients for the server, and remove the user's own settings.

    Without a server, the keys are set but no endpoint is.
    """
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_ENDPOINT_URL_STS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("CREDENTIALS_RELATIVE_URI", "CREDENTIALS_FULL_URI", "AUTHORIZATION_TOKEN", "AUTHORIZATION_TOKEN_FILE"):
        monkeypatch.delenv(f"AWS_CONTAINER_{name}", raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": ACCESS,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no-credentials"),
        "NO_PROXY": server.host if server is not None else LOCAL,
        "no_proxy": server.host if server is not None else LOCAL,
    }.items():
        monkeypatch.setenv(name, value)
    if server is not None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)


@contextmanager
def object_server(
    certificate: Path | None = None, host: str = LOCAL, program: str = "s3_server.py"
) -> Iterator[ObjectServer]:
    """Run a server program on an address of this host, with TLS if `certificate`, a file with its key, is given."""
    command = [sys.executable, str(Path(__file__).with_name(program)), host]
    if certificate is not None:
        command.append(str(certificate))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield ObjectServer(int(process.stdout.readline()), host)
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()
