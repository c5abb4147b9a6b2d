"""An object server for tests: S3 with signatures, conditional requests and multipart uploads, and faults on request.

``python s3_server.py HOST [CERTIFICATE]`` listens on an address, prints its port and serves until its standard input
ends; it uses TLS if CERTIFICATE, a file with a certificate and its key, is given. Objects below ``/public/`` need no
signature. Tests control it by requests below ``/-/``: ``PUT /-/faults`` takes a JSON object (:mod:`s3_faults`),
``GET /-/log`` returns and clears the list of requests, ``GET /-/uploads`` lists the parts of unfinished uploads.
It computes signatures by its own code, so that it can check those of Plait.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import json
import re
import ssl
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from s3_faults import FAULTS
from s3_upload_lists import join_parts, object_list_xml, replace_last_part, upload_list_xml

ACCESS, SECRET = "test-key", "test-secret/with+signs"


class Dialect(NamedTuple):
    """The names in requests and signatures that differ between Amazon's and Google's services."""

    headers: str = "x-amz-"
    version: str = "AWS4"
    service: str = "s3"
    request: str = "aws4_request"
    absent: int = 404  # status of a put whose If-Match (or generation) names an object that does not exist


def signing_key(dialect: Dialect, day: str, region: str) -> bytes:
    """Derive the key that signs the requests of one day, as Signature Version 4 prescribes."""
    key = f"{dialect.version}{SECRET}".encode()
    for part in (day, region, dialect.service, dialect.request):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


class Store:
    """The objects, the unfinished uploads, the faults that are on, and the log of requests."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.objects: dict[str, tuple[bytes, str, dict[str, str], float]] = {}  # content, ETag, metadata, time
        self.faults = dict(FAULTS)
        self.log: list[dict[str, Any]] = []
        self.version = 0  # counts changes, for new ETags and names of uploads
        # Uploads by their names: key, metadata, parts with their MD5s by number, and begin time.
        self.uploads: dict[str, tuple[str, dict[str, str], dict[int, tuple[bytes, str]], str]] = {}

    def use_fault(self, fault: str) -> bool:
        """Return whether this request has the fault, and if so, decrement the number of requests that still get it."""
        with self.lock:
            if self.faults[fault] <= 0:
                return False
            self.faults[fault] -= 1
            return True


STORE = Store()


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    dialect = Dialect()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def _now(self) -> float:
        return time.time() + STORE.faults["skew"]

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Return the server's date."""
        return super().date_time_string(self._now() if timestamp is None else timestamp)

    def _answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        sent = {"Content-Length": str(len(body)), **(headers or {})}
        if status in (204, 304):
            sent.pop("Content-Length")
        elif self.command == "GET" and STORE.faults["content_length"] and not self.path.startswith("/-/"):
            sent["Content-Length"] = str(STORE.faults["content_length"])
            self.close_connection = True
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD" or status in (204, 304):
            return
        is_read = status in (200, 206) and len(body) > 1 and self.command == "GET"
        if is_read and ((stalls := STORE.use_fault("stall")) or STORE.use_fault("truncate")):
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            time.sleep(5 * stalls)
            self.close_connection = True
            return
        self.wfile.write(body)

    def _error(self, status: int, code: str, headers: dict[str, str] | None = None, extra: str = "") -> None:
        body = f"<Error><Code>{code}</Code><Message>The server says {code}</Message>{extra}</Error>"
        self._answer(status, body.encode(), headers)

    def _find_signature_error(self, path: str, query: str, body: bytes) -> tuple[int, str, str] | None:
        """Return (status, code, further elements) of the error if the request is not signed correctly, or None."""
        prefix, version, service, request, _ = self.dialect
        authorization = re.fullmatch(
            rf"{version}-HMAC-SHA256 Credential=(\S+?)/(\d{{8}})/(\S+?)/{service}/{request}, ?SignedHeaders=(\S+?), ?"
            r"Signature=([0-9a-f]{64})",
            self.headers.get("Authorization", ""),
        )
        if authorization is None or authorization[1] != ACCESS:
            return 403, "AccessDenied", ""
        _, day, given_region, signed_names, signature = authorization.groups()
        date = self.headers[prefix + "date"]
        signed = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if abs(signed.timestamp() - self._now()) > 900:  # seconds, the limit of S3
            return 403, "RequestTimeTooSkewed", ""
        region = STORE.faults["region"]
        if given_region != region:
            return 400, "AuthorizationHeaderMalformed", f"<Region>{region}</Region>"
        content_hash = self.headers[prefix + "content-sha256"]
        if content_hash != hashlib.sha256(body).hexdigest():
            return 400, "XAmzContentSHA256Mismatch", ""
        names = signed_names.split(";")
        if "host" not in names or any(
            name.startswith(prefix) and name not in names for name in map(str.lower, self.headers)
        ):
            return 403, "AccessDenied", ""
        canonical = "\n".join(
            [
                self.command,
                urllib.parse.quote(urllib.parse.unquote(path), safe="/-_.~"),
                "&".join(
                    sorted(
                        f"{urllib.parse.quote(key, safe='-_.~')}={urllib.parse.quote(value, safe='-_.~')}"
                        for key, value in urllib.parse.parse_qsl(query, keep_blank_values=True)
                    )
                ),
                *(f"{name}:{' '.join(self.headers[name].split())}" for name in names),
                "",
                signed_names,
                content_hash,
            ]
        )
        scope = f"{day}/{region}/{service}/{request}"
        to_sign = f"{version}-HMAC-SHA256\n{date}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        expected = hmac.new(signing_key(self.dialect, day, region), to_sign.encode(), hashlib.sha256).hexdigest()
        return None if hmac.compare_digest(expected, signature) else (403, "SignatureDoesNotMatch", "")

    def _handle(self) -> None:
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path.startswith("/-/"):
            return self._control(path, body)
        with STORE.lock:
            STORE.log.append(
                {
                    "method": self.command,
                    "path": urllib.parse.unquote(path),
                    "query": query,
                    "range": self.headers.get("Range"),
                    "peer": self.client_address[1],
                    "headers": {name.lower(): value for name, value in self.headers.items()},
                }
            )
        time.sleep(STORE.faults["delay"])
        if STORE.use_fault("reset"):
            self.close_connection = True
            return None
        if STORE.use_fault("slow_down"):
            return self._error(503, "SlowDown")
        if STORE.use_fault("fail"):
            return self._error(500, "InternalError")
        if (
            not f"{path}/".startswith("/public/")
            and (rejected := self._find_signature_error(path, query, body)) is not None
        ):
            status, code, extra = rejected
            headers = {"x-amz-bucket-region": STORE.faults["region"]} if "Region" in extra else None
            return self._error(status, code, headers, extra)
        key = urllib.parse.unquote(path)
        parameters = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        if self.command in ("GET", "HEAD"):
            with STORE.lock:
                uploads = {name: (upload[0], dict(upload[2]), upload[3]) for name, upload in STORE.uploads.items()}
            if (listed := upload_list_xml(key, query, uploads, STORE.faults)) is not None:
                if STORE.faults["reject_lists"]:
                    return self._error(STORE.faults["reject_lists"], "Rejected")
                return self._answer(200, listed.encode()) if listed else self._error(404, "NoSuchUpload")
            return self._list(key, parameters) if "list-type" in parameters else self._get(key)
        if self.command == "PUT" and self._put_conditions() != (False, None) and STORE.use_fault("conflict"):
            return self._error(409, "ConditionalRequestConflict")
        if self.command == "POST" or "uploadId" in parameters:
            return self._upload(key, body, parameters)
        return self._put(key, body) if self.command == "PUT" else self._delete(key)

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = _handle  # noqa: N815

    def _metadata(self) -> dict[str, str]:
        begin = self.dialect.headers + "meta-"
        return {name: value for name, value in self.headers.items() if name.lower().startswith(begin)}

    def _put_conditions(self) -> tuple[bool, str | None]:
        """Return whether a put requires that there is no object, and the ETag that it requires."""
        return self.headers.get("If-None-Match") == "*", self.headers.get("If-Match")

    def _upload(self, key: str, body: bytes, parameters: dict[str, str]) -> None:
        if "uploads" in parameters:
            with STORE.lock:
                STORE.version += 1
                name = f"upload+{STORE.version}/="
                begin_time = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self._now()))
                STORE.uploads[name] = (key, self._metadata(), {}, begin_time)
            return self._answer(200, f"<R><UploadId>{name}</UploadId></R>".encode())
        name = parameters["uploadId"]
        if self.command == "DELETE" and STORE.use_fault("fail_aborts"):
            return self._error(403, "AccessDenied")
        with STORE.lock:
            upload = STORE.uploads.get(name)
            status, code = 200, ""
            if upload is None or upload[0] != key:
                status, code = 404, "NoSuchUpload"
            elif self.command == "DELETE":
                del STORE.uploads[name]
                status = 204
            elif self.command == "PUT":
                tag = hashlib.md5(body + b"?" * STORE.faults["opaque_tags"]).hexdigest()
                upload[2][int(parameters["partNumber"])] = (body, tag)
        if code:
            return self._error(status, code)
        if self.command == "POST":
            return self._complete(key, body, name)
        return self._answer(status, headers={"ETag": f'"{tag}"'} if self.command == "PUT" else None)

    def _complete(self, key: str, body: bytes, name: str) -> None:
        """Complete an upload, as a put of all its parts."""
        _, metadata, parts, _ = STORE.uploads[name]
        if STORE.faults["foreign_completion"] == "other":
            body = replace_last_part(body, parts)
        code, content, tag = join_parts(body, parts)
        if code:
            return self._error(400, code)
        # Google's ETags of completed uploads are not made of MD5s.
        return self._put(key, content, metadata, name, tag if self.dialect.service == "s3" else "")

    def _control(self, path: str, body: bytes) -> None:
        with STORE.lock:
            answer: Any = None
            if path == "/-/uploads":
                answer = [sorted(parts) for _, _, parts, _ in STORE.uploads.values()]
            elif path == "/-/faults":
                STORE.faults = {**FAULTS, **json.loads(body)}
            else:
                answer, STORE.log = STORE.log, []
        return self._answer(200, json.dumps(answer).encode())

    def _etag(self, content: bytes, tag: str) -> dict[str, str]:
        if STORE.faults["no_etag"]:
            return {}
        return {"ETag": f'W/"{tag}"' if STORE.faults["weak_etag"] else f'"{tag}"'}

    def _get(self, key: str) -> None:
        if self.command == "HEAD" and STORE.use_fault("fail_heads"):
            return self._error(403, "AccessDenied")
        with STORE.lock:
            if STORE.faults["new_tags"] and key in STORE.objects:
                content, _, meta, changed_at = STORE.objects[key]
                STORE.version += 1
                STORE.objects[key] = (content, f"v{STORE.version}", meta, changed_at)
            if STORE.faults["change_after"] > 0 and self.command == "GET":
                STORE.faults["change_after"] -= 1
                if STORE.faults["change_after"] == 0 and key in STORE.objects:
                    content, _, meta, changed_at = STORE.objects[key]
                    STORE.version += 1
                    changed = bytes(255 - byte for byte in content) + b"x" * STORE.faults["grow"]
                    if not STORE.faults["grow"]:
                        changed_at = time.time() + 10  # differs although times are in whole seconds
                    STORE.objects[key] = (changed, f"v{STORE.version}", meta, changed_at)
            stored = STORE.objects.get(key)
        if stored is None:
            return self._error(*STORE.faults["absent"])
        content, tag, meta, changed_at = stored
        headers = {**self._etag(content, tag), **meta, "Last-Modified": super().date_time_string(changed_at)}
        present = headers.get("ETag", f'"{tag}"').removeprefix("W/")
        if self.headers.get("If-Match", present) != present:
            return self._error(412, "PreconditionFailed")
        if self.headers.get("If-None-Match") == present:
            return self._answer(304, headers=headers)
        requested_range = self.headers.get("Range")
        if requested_range is None or STORE.faults["ignore_ranges"]:
            return self._answer(200, content, headers)
        first, last = re.fullmatch(r"bytes=(\d*)-(\d*)", requested_range).groups()
        begin = int(first) if first else max(len(content) - int(last), 0)
        end = min(int(last) + 1 if first and last else len(content), len(content))
        if begin >= len(content):
            return self._error(416, "InvalidRange", {"Content-Range": f"bytes */{len(content)}"})
        if STORE.faults["wrong_range"]:
            begin += 1
        headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(content)}"
        return self._answer(206, content[begin:end], headers)

    def _put(self, key: str, body: bytes, meta: dict[str, str] | None = None, upload: str = "", tag: str = "") -> None:
        with STORE.lock:
            old = STORE.objects.get(key)
            create, match = self._put_conditions()
            create = create and not STORE.faults["ignore_create"]
            match = None if STORE.faults["ignore_match"] else match
            if match is not None and old is None:
                status, code = self.dialect.absent, "NoSuchKey"
            elif (create and old is not None) or (match is not None and match != f'"{old[1]}"'):
                status, code = 412, "PreconditionFailed"
            elif STORE.faults["error_in_200"] > 0:
                STORE.faults["error_in_200"] -= 1
                status, code = 200, "InternalError"
            else:
                status, code = 200, ""
                STORE.version += 1
                meta = self._metadata() if meta is None else meta
                # Objects that tests publish without a signature get another ETag each time.
                is_s3 = self.dialect.service == "s3" and "Authorization" in self.headers
                if is_s3 and not STORE.faults["opaque_tags"]:
                    tag = tag or hashlib.md5(body).hexdigest()
                STORE.objects[key] = (body, tag or f"v{STORE.version}", meta, time.time())
                STORE.uploads.pop(upload, None)
        if code:
            return self._error(status, code)
        if STORE.use_fault("lose_answers"):
            self.close_connection = True
            return None
        if upload and STORE.faults["foreign_completion"]:
            return self._error(404, "NoSuchUpload")
        return self._answer(200, headers=self._etag(*STORE.objects[key][:2]))

    def _delete(self, key: str) -> None:
        if STORE.faults["fail_deletes"]:
            return self._error(403, "AccessDenied")
        with STORE.lock:
            STORE.objects.pop(key, None)
        return self._answer(204)

    def _list(self, bucket: str, parameters: dict[str, str]) -> None:
        begin = bucket.rstrip("/") + "/"
        prefix, delimiter = parameters.get("prefix", ""), parameters.get("delimiter", "")
        after = parameters.get("continuation-token", "")
        with STORE.lock:
            objects = {
                key.removeprefix(begin): value[:2] for key, value in STORE.objects.items() if key.startswith(begin)
            }
        entries: dict[str, tuple[bytes, str] | None] = {}
        for key in sorted(objects):
            if not key.startswith(prefix):
                continue
            cut = key.find(delimiter, len(prefix)) if delimiter else -1
            entries[key if cut < 0 else key[: cut + 1]] = objects[key] if cut < 0 else None
        remaining = [name for name in sorted(entries) if name > after]
        page = remaining[: STORE.faults["page"]]
        page_entries = {name: entries[name] for name in page}
        self._answer(
            200, object_list_xml(page_entries, len(page) < len(remaining), plain=STORE.faults["plain_keys"]).encode()
        )


class Server(ThreadingHTTPServer):
    """Lets 128 connections wait to be accepted, rather than the default of five."""

    request_queue_size = 128
    daemon_threads = True


def main(handler: type[Handler] = Handler) -> None:
    """Serve until the standard input ends."""
    server = Server((sys.argv[1], 0), handler)
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
