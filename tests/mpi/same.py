"""What all ranks must be told alike."""

import plait


def told(call):
    """The kind and the words of the error that a call raises here; None where there is none."""
    try:
        call()
    except plait.Error as error:
        return type(error).__name__, str(error)
    return None


def error_everywhere(comm, call, kind, says=""):
    """Expects one and the same error on all ranks; returns its words."""
    everyone = comm.allgather(told(call))
    assert everyone[0] is not None, everyone
    assert all(theirs == everyone[0] for theirs in everyone), everyone
    assert everyone[0][0] == kind.__name__, everyone[0]
    assert says in everyone[0][1], everyone[0]
    return everyone[0][1]
