"""Requests: nonblocking reads, writes and redistributions, whose arrays stay referenced until they are complete."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .. import _core
from .._arguments.values import Array
from .._base.errors import Error

_Result = TypeVar("_Result")
_Started = _core.Request | _core.StreamRequest | _core.DistantRequest


class Request(Generic[_Result]):
    """A nonblocking read, write or redistribution.

    Type checkers see it as ``Request[T]``, where T is the type of the result of :meth:`wait`.

    Do not change an array that is being written, and do not read one that is being filled, before :meth:`wait` returns.
    """

    def __init__(
        self,
        start: Callable[[], _Started],
        user: object,
        arrays: list[Array],
        result: _Result,
    ) -> None:
        """Objects are made by :meth:`File.iread`, :meth:`Stream.iread`, :func:`iredistribute` and similar calls."""
        self._request: _Started | None = None  # the access has not been started yet
        self._used = (user, arrays)  # kept alive until the access is done, even if the caller drops the Request
        self._result = result
        with _running_lock:
            _running.difference_update([old for old in _running if old._request is not None and old.test()])
            _running.add(self)  # before the access has the arrays
        # A signal's handler may raise between the start of the access and this assignment. Only errors of the call
        # itself mean that nothing has been started. After other exceptions the arrays stay referenced, because an
        # access may be using them.
        try:
            self._request = start()
        except Exception:
            _forget_request(self)
            raise

    def wait(self) -> _Result:
        """Wait for the access, and return the result or raise the error of the blocking call.

        Ctrl-C ends the wait, and the access fails. An access that is busy with a disk continues, and wait() may be
        called again.
        """
        try:
            elements = self._started().wait()
        finally:
            # After an interrupted wait the access may still run; it uses the arrays until it ends.
            if self._ended():
                _forget_request(self)
        return self._to_result(elements)

    def test(self) -> bool:
        """Return True if :meth:`wait` would return at once."""
        return self._started().test()

    def _ended(self) -> bool:
        try:
            return self.test()
        except Error:  # in a child of the process that started it
            return True

    def _started(self) -> _Started:
        assert self._request is not None
        return self._request

    def _to_result(self, elements: Any) -> _Result:
        return self._result


#: Accesses that may still use their arrays, of all threads.
_running: set[Request[Any]] = set()
#: Protects `_running`. It is reentrant, because a signal handler of the thread that has locked it may start an access.
_running_lock = threading.RLock()


def _forget_request(request: Request[Any]) -> None:
    with _running_lock:
        _running.discard(request)


def _forget_parent() -> None:
    """Discard the accesses of the parent in a forked child, and replace the lock, which a thread of the parent may
    hold.
    """
    global _running_lock
    _running.clear()
    _running_lock = threading.RLock()


os.register_at_fork(after_in_child=_forget_parent)


@atexit.register
def _finish_running() -> None:
    with _running_lock:
        unfinished = [request for request in _running if request._request is not None]
    interruption: BaseException | None = None
    for request in unfinished:
        try:
            request.wait()
        except Error:
            pass
        except BaseException as error:  # Ctrl-C: the access fails soon, and uses its arrays until then
            interruption = error
        while not request._ended():
            with contextlib.suppress(KeyboardInterrupt):
                time.sleep(0.001)
    if interruption is not None:
        raise interruption
