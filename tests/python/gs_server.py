"""An object server for tests with the XML interface of Google Cloud Storage: s3_server.py in Google's dialect.

Conditional puts compare the object's generation, a number that changes with each put, and ignore ETags, which are
equal for equal bytes. Requests must have Google's headers only, and be signed by an HMAC key or carry a token.
"""

from __future__ import annotations

import hashlib

from s3_server import Dialect, Handler, main

TOKEN = "ya29.test-token"
CONDITION = "x-goog-if-generation-match"
FIRST_GENERATION = 10**15  # generations are times in microseconds


class GoogleHandler(Handler):
    """Answers the requests of one connection."""

    dialect = Dialect("x-goog-", "GOOG4", "storage", "goog4_request", 412)

    def _find_signature_error(self, path: str, query: str, body: bytes) -> tuple[int, str, str] | None:
        if any(name.lower().startswith("x-amz-") for name in self.headers):
            return 400, "ExcessHeaderValues", ""
        authorization = self.headers.get("Authorization", "")
        if authorization.startswith("Bearer "):
            return None if authorization == f"Bearer {TOKEN}" else (401, "AuthenticationRequired", "")
        return super()._find_signature_error(path, query, body)

    def _put_conditions(self) -> tuple[bool, str | None]:
        generation = self.headers.get(CONDITION)
        return generation == "0", None if generation in (None, "0") else f'"v{int(generation) - FIRST_GENERATION}"'

    def _etag(self, content: bytes, tag: str) -> dict[str, str]:
        headers = super()._etag(content, hashlib.md5(content).hexdigest())
        return {**headers, "x-goog-generation": str(FIRST_GENERATION + int(tag[1:]))}


if __name__ == "__main__":
    main(GoogleHandler)
