"""A server that issues access keys as the services of AWS do, for tests of how Plait finds its credentials.

It answers like the token service STS (AssumeRoleWithWebIdentity), like the credential server of a container, and like
the metadata service of a virtual machine. All answers have the keys of s3_server.py and a new session token,
``session-1`` in the first answer, which the client must send to the object server.
"""

from __future__ import annotations

import datetime
import json
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from object_servers import LOCAL
from s3_server import ACCESS, SECRET


class CredentialServer(ThreadingHTTPServer):
    """Issues keys, and records the requests for them."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((LOCAL, 0), Handler)
        self.url = f"http://{LOCAL}:{self.server_port}"
        self.lifetime = 3600.0  # seconds until the next keys expire
        self.delay = 0.0  # seconds before each answer
        self.status = 200  # status of all answers
        self.body: bytes | None = None  # body of all answers, instead of keys
        self.failures = 0  # number of failing metadata requests after the token request
        self.issued = 0  # number of keys
        self.requests: list[tuple[str, str, dict[str, str], str]] = []  # method, path, headers and body of requests
        self.closing = threading.Event()  # ends the delays

    def issue_key(self) -> dict[str, str]:
        """Return an access key with a new session token and its expiration, under AWS's names for them."""
        self.issued += 1
        expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=self.lifetime)
        return {
            "AccessKeyId": ACCESS,
            "SecretAccessKey": SECRET,
            "Token": f"session-{self.issued}",
            "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }


class Handler(BaseHTTPRequestHandler):
    """Answers requests of all three kinds."""

    server: CredentialServer

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def _answer(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.command, self.path, headers, body))
        self.server.closing.wait(self.server.delay)
        if self.server.status != 200 or self.server.body is not None:
            return self._answer(self.server.body or b"", self.server.status)
        if self.command == "POST":
            return self._assume_role(dict(urllib.parse.parse_qsl(body)))
        if self.path.startswith("/latest/"):
            return self._metadata(headers)
        if self.path == "/container" and headers.get("authorization") == "container-token":
            return self._answer(json.dumps(self.server.issue_key()).encode())
        return self._answer(b"", 403)

    do_GET = do_PUT = do_POST = _handle  # noqa: N815

    def _assume_role(self, form: dict[str, str]) -> None:
        expected = {
            "Action": "AssumeRoleWithWebIdentity",
            "Version": "2011-06-15",
            "RoleArn": "arn:aws:iam::123456789012:role/reader",
            "WebIdentityToken": "web+token/=",
        }
        if any(form.get(name) != value for name, value in expected.items()) or "RoleSessionName" not in form:
            return self._answer(b"<ErrorResponse><Error><Code>InvalidIdentityToken</Code></Error></ErrorResponse>", 400)
        keys = self.server.issue_key()
        keys["SessionToken"] = keys.pop("Token")
        members = "".join(f"<{name}>{value}</{name}>" for name, value in keys.items())
        return self._answer(f"<R><Result><Credentials>{members}</Credentials></Result></R>".encode())

    def _metadata(self, headers: dict[str, str]) -> None:
        if self.path == "/latest/api/token":
            has_time = headers.get("x-aws-ec2-metadata-token-ttl-seconds", "").isdigit()
            return self._answer(b"metadata-token", 200 if self.command == "PUT" and has_time else 400)
        if headers.get("x-aws-ec2-metadata-token") != "metadata-token":
            return self._answer(b"", 401)
        if self.server.failures > 0:
            self.server.failures -= 1
            return self._answer(b"", 500)
        folder = "/latest/meta-data/iam/security-credentials/"
        if self.path == folder:
            return self._answer(b"node role\n")
        if self.path == f"{folder}node%20role":
            return self._answer(json.dumps({"Code": "Success", **self.server.issue_key()}).encode())
        return self._answer(b"", 404)


@contextmanager
def credential_server() -> Iterator[CredentialServer]:
    """Run a server in a thread of this process."""
    server = CredentialServer()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
