"""Checks that all ranks raise the same error."""

import plait


def catch_error(call):
    """Returns the class name and the text of the error that a call raises on this rank; None without an error."""
    try:
        call()
    except plait.Error as error:
        return type(error).__name__, str(error)
    return None


def error_everywhere(comm, call, kind, says=""):
    """Expects that a call raises the same error on all ranks; returns its text."""
    everyone = comm.allgather(catch_error(call))
    assert everyone[0] is not None, everyone
    assert all(other == everyone[0] for other in everyone), everyone
    assert everyone[0][0] == kind.__name__, everyone[0]
    assert says in everyone[0][1], everyone[0]
    return everyone[0][1]
