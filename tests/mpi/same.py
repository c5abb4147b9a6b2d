"""Checks that all ranks raise the same error."""

import plait


def catch_error(call):
    """Returns the class name and the text of the error that a call raises on this rank; None without an error."""
    try:
        call()
    except plait.Error as error:
        return type(error).__name__, str(error)
    return None


def expect_same_error(comm, call, kind, text_part=""):
    """Checks that a call raises the same error on all ranks, and returns its text.

    kind       the class of the error
    text_part  a part of its text
    """
    errors = comm.allgather(catch_error(call))
    assert errors[0] is not None, errors
    assert all(error == errors[0] for error in errors), errors
    class_name, text = errors[0]
    assert class_name == kind.__name__, errors[0]
    assert text_part in text, errors[0]
    return text
