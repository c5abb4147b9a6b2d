"""Runs Azurite, Microsoft's emulator of Azure Blob Storage, for tests, and signs requests to it."""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import http.client
import os
import shutil
import socket
import subprocess
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from object_servers import LOCAL

ACCOUNT, KEY = "plait", base64.b64encode(b"a secret of this test").decode()
VERSION = "2021-08-06"  # of the REST interface
_FOLDER = Path(__file__).parents[2] / ".plait" / "azurite" / "node_modules" / ".bin"
PROGRAM = shutil.which("azurite-blob", path=f"{_FOLDER}{os.pathsep}{os.environ['PATH']}")


def signature(text: str) -> str:
    """Return the signature of a text by the account's key (HMAC-SHA256, base64)."""
    return base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()


class Azurite:
    """The client's side of a running server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.endpoint = f"http://{LOCAL}:{port}/{ACCOUNT}"

    def make_container(self, name: str, public: bool = False) -> None:
        """Make a container; if it is public, its blobs can be read without a signature."""
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
        headers = {"x-ms-date": date, "x-ms-version": VERSION}
        if public:
            headers["x-ms-blob-public-access"] = "container"
        lines = "".join(f"{key}:{headers[key]}\n" for key in sorted(headers))
        # The method and the values of eleven standard headers, all empty here, each end with a newline.
        string_to_sign = "PUT" + "\n" * 12 + f"{lines}/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
        headers["Authorization"] = f"SharedKey {ACCOUNT}:{signature(string_to_sign)}"
        connection = http.client.HTTPConnection(LOCAL, self.port, timeout=60)
        connection.request("PUT", f"/{ACCOUNT}/{name}?restype=container", headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        assert answer.status == 201, content


def shared_access(container: str) -> str:
    """Return the URL parameters of a shared access signature that permits everything in a container for an hour."""
    expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    end = expires.strftime("%Y-%m-%dT%H:%M:%SZ")
    # The fields of the string to sign in the order of the specification; empty fields restrict nothing.
    fields = ["racwdl", "", end, f"/blob/{ACCOUNT}/{container}", "", "", "", VERSION, "c", "", "", "", "", "", "", ""]
    parameters = {"sp": "racwdl", "se": end, "sv": VERSION, "sr": "c", "sig": signature("\n".join(fields))}
    return urllib.parse.urlencode(parameters)


@contextmanager
def azurite(folder: Path) -> Iterator[Azurite]:
    """Run a server that stores its data in a folder, and wait until it accepts connections."""
    with socket.socket() as unused:
        unused.bind((LOCAL, 0))
        port = unused.getsockname()[1]
    command = [PROGRAM, "--blobHost", LOCAL, "--blobPort", str(port), "--location", str(folder), "--silent"]
    environment = {**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [*command, "--skipApiVersionCheck", "--disableTelemetry"], stdout=log, stderr=log, env=environment
        ) as server,
    ):
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    socket.create_connection((LOCAL, port)).close()
                    break
                except OSError:
                    assert server.poll() is None, (folder / "log").read_text()
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
            yield Azurite(port)
        finally:
            server.terminate()
