"""Nonblocking accesses."""

from __future__ import annotations

import atexit
import contextlib
from typing import Any

from . import _core
from ._arrays import Array
from ._errors import Error


class Request:
    """A nonblocking read, write or redistribution. The arrays belong to it until :meth:`wait` returns."""

    def __init__(
        self, request: _core.Request | _core.StreamRequest, user: object, arrays: list[Array], result: Any
    ) -> None:
        """Made by :meth:`File.iread`, :meth:`Stream.iread`, :func:`iredistribute` and others that start something."""
        self._request = request
        self._used = (user, arrays)  # kept alive until the access is done, also where the caller drops the Request
        self._result = result
        _running.difference_update([old for old in _running if old.test()])
        _running.add(self)

    def wait(self) -> Any:
        """Wait for the access and return what the blocking call would; raise what it would raise."""
        try:
            elements = self._request.wait()
        finally:
            _running.discard(self)
        return self._finished(elements)

    def test(self) -> bool:
        """Tell whether :meth:`wait` would return at once."""
        return self._request.test()

    def _finished(self, elements: Any) -> Any:
        return self._result


#: Accesses that may still use their arrays.
_running: set[Request] = set()


@atexit.register
def _finish_running() -> None:
    for request in list(_running):
        with contextlib.suppress(Error):
            request.wait()
