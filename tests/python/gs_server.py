"""An object server for tests with the XML interface of Google Cloud Storage: s3_server.py in Google's dialect.

Conditional puts compare the object's generation, a number that changes with each put, and ignore ETags, which are
equal for equal bytes. Requests must have Google's headers only, and be signed by an HMAC key or carry a token.
"""

from __future__ import annotations

import hashlib

from s3_server import Dialect, Handler, main

TOKEN = "ya29.test-token"
CONDITION = "x-goog-if-generation-match"
FIRST = 10**15  # generations are times in microseconds


class GoogleHandler(Handler):
    """Answers one connection."""

    dialect = Dialect("x-goog-", "GOOG4", "storage", "goog4_request", 412)

    def _rejected_signature(self, path: str, query: str, body: bytes) -> tuple[int, str, str] | None:
        if any(name.lower().startswith("x-amz-") for name in self.headers):
            return 400, "ExcessHeaderValues", ""
        given = self.headers.get("Authorization", "")
        if given.startswith("Bearer "):
            return None if given == f"Bearer {TOKEN}" else (401, "AuthenticationRequired", "")
        return super()._rejected_signature(path, query, body)

    def _conditions(self) -> tuple[bool, str | None]:
        stated = self.headers.get(CONDITION)
        return stated == "0", None if stated in (None, "0") else f'"v{int(stated) - FIRST}"'

    def _etag(self, content: bytes, tag: str) -> dict[str, str]:
        made = super()._etag(content, hashlib.md5(content).hexdigest())
        return {**made, "x-goog-generation": str(FIRST + int(tag[1:]))}


if __name__ == "__main__":
    main(GoogleHandler)
