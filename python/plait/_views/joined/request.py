"""Nonblocking reads of several parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..._base.errors import Error
from ..._calls.request import Request

_Result = TypeVar("_Result")


class JointRequest(Request[_Result]):
    """Requests of several files as one."""

    def __init__(
        self, requests: Sequence[Request[Any]], result: _Result, finish: Sequence[Callable[[], None]] = ()
    ) -> None:
        """Wrap started requests.  result: result of wait().  finish: functions that wait() calls after all requests."""
        self._requests = requests
        self._result = result
        self._finish = finish

    def wait(self) -> _Result:
        """Wait for all requests; raise the first error."""
        failed: Error | None = None
        for request in self._requests:
            try:
                request.wait()
            except Error as error:
                failed = failed or error
        if failed is not None:
            raise failed
        for finish in self._finish:
            finish()
        self._finish = ()
        return self._result

    def test(self) -> bool:
        """Return True if wait() would return at once."""
        return all(request.test() for request in self._requests)
