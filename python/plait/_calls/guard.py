"""Wraps calls of the library so that an error on one rank becomes the error of all ranks.

Problem: a collective call ends with an agreement of all ranks about errors. If an invalid argument stops one rank
before the call, the others wait in that agreement.

Idea: a rank with an error calls a function of the core that only joins the agreement, with the text of the error. All
ranks then raise it.
"""

from __future__ import annotations

import errno
import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn, ParamSpec, Protocol, TypeVar

from .._arguments.layouts import to_layout
from .._base.errors import ArgumentError, ArgumentTypeError, Error, store_error

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Reporter(Protocol):
    """Joins the agreement with the text of an error, and raises it on every rank; with a code of the system it is a
    StoreError.
    """

    def __call__(self, message: str, *, code: int = 0) -> NoReturn:
        """Raise the error."""


_MAX_ARGUMENT_LENGTH = 60  # characters of an argument


class AgreedError(Exception):
    """Carries an error that all ranks have already raised, so this rank must not join another agreement with it."""

    def __init__(self, error: Error) -> None:
        super().__init__(str(error))
        self.error = error


class agreed_errors:  # noqa: N801
    """A context manager for a collective call within :class:`collective_errors`: all ranks raise its errors already."""

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Mark the error."""
        if isinstance(error, Error):
            raise AgreedError(error) from error


class collective_errors:  # noqa: N801
    """A context manager for checks before a collective call: an error in its block is raised on all ranks, so that no
    rank waits for this one.
    """

    def __init__(self, fail: Reporter) -> None:
        """Store the function that reports an error of this rank to the others and raises it."""
        self._fail = fail

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Join the agreement with the error, if there is one."""
        if isinstance(error, AgreedError):
            raise error.error from None
        if isinstance(error, Exception):
            self._fail(error_text(error), code=_error_code(error))


def call(
    fail: Reporter, function: Callable[_Arguments, _Result], *args: _Arguments.args, **kwargs: _Arguments.kwargs
) -> _Result:
    """Call a function of the core.

    Its own errors are plait.Error, on which all ranks have agreed. Other errors come from the conversion of the
    arguments or from a lack of memory, before the agreement.
    """
    code = 0
    try:
        return function(*args, **kwargs)
    except ArgumentTypeError as error:  # an error of the conversion
        message = str(error)
    except Error:
        raise
    except TypeError:
        given_text = ", ".join(
            [*map(_show_argument, args), *(f"{name}={_show_argument(value)}" for name, value in kwargs.items())]
        )
        name = getattr(function, "__name__", "the call")
        message = f"{name}({given_text}) has an argument of a wrong type, or a number or text that is out of range"
    except Exception as error:
        message, code = error_text(error), _error_code(error)
    return fail(_escape(message), code=code)


def plait_errors(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Convert any exception of a call that is not collective to a plait.Error."""

    @functools.wraps(function)
    def guarded(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        converted: Error
        try:
            return function(*args, **kwargs)
        except Error:
            raise
        except TypeError as error:
            converted = ArgumentTypeError(error_text(error))
        except MemoryError as error:
            converted = store_error(error_text(error), errno.ENOMEM)
        except Exception as error:
            converted = ArgumentError(error_text(error))
        raise converted

    return guarded


def entry(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Wrap a public function that is not collective, so that invalid arguments raise a plait.Error.

    A first parameter called ``layout`` also accepts its text. Exceptions of a ``progress`` are passed on to the caller.
    """
    takes_layout = next(iter(inspect.signature(function).parameters), "") == "layout"

    @functools.wraps(function)
    def guarded(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        converted: ArgumentError
        try:
            given_text: Any = (to_layout(args[0]), *args[1:]) if takes_layout and args else args
            return function(*given_text, **kwargs)
        except Error:
            raise
        except MemoryError as error:
            raise store_error(error_text(error), errno.ENOMEM) from error
        except ImportError as error:
            converted = ArgumentError(f"{function.__name__} needs the package {error.name}; install it")
        except Exception as error:
            if kwargs.get("progress") is not None:
                raise
            kind = ArgumentTypeError if isinstance(error, (TypeError, AttributeError)) else ArgumentError
            given_text = ", ".join(
                [*map(_show_argument, args), *(f"{name}={_show_argument(value)}" for name, value in kwargs.items())]
            )
            converted = kind(
                _escape(
                    f"{function.__name__}({given_text}) has an argument that cannot be used; pass "
                    f"{function.__name__}{_signature(function)}"
                )
            )
        raise converted

    return guarded


def _signature(function: Callable[..., object]) -> str:
    """Return the signature of a function without the result: the parameters, with their types as in the source."""
    return str(inspect.signature(function).replace(return_annotation=inspect.Signature.empty)).replace("'", "")


def fail_here(message: str, *, code: int = 0) -> NoReturn:
    """Raise the error on this rank alone: for calls that are not collective."""
    raise store_error(message, code) if code else ArgumentError(message)


def _error_code(error: Exception) -> int:
    """Return the system's code of an error; 0 for a mistake in an argument."""
    if isinstance(error, OSError):  # a StoreError as well
        return error.errno or errno.EIO
    return errno.ENOMEM if isinstance(error, MemoryError) else 0


def error_text(error: Exception) -> str:
    """Return the text of an exception, as UTF-8 for C++."""
    try:
        text = str(error)
    except Exception:
        text = ""
    if isinstance(error, MemoryError):
        return _escape(f"there is not enough memory: {text or 'allocating failed'}; use smaller arrays")
    return _escape(text or f"an argument raised {type(error).__name__} when it was looked at")


def _escape(text: str) -> str:
    """Escape bytes that are not UTF-8, which a file name may contain."""
    return text.encode("utf-8", "backslashreplace").decode()


def _show_argument(value: object) -> str:
    try:
        text = repr(value)
    except Exception:
        text = type(value).__name__
    return text if len(text) <= _MAX_ARGUMENT_LENGTH else text[: _MAX_ARGUMENT_LENGTH - 3] + "..."
