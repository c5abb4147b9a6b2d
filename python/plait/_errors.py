"""Errors of the package."""


class Error(Exception):
    """Any failure of Plait.

    The message says what was found, what was expected and what to do. In a collective call all ranks get the same one.
    """


class ArgumentError(Error, ValueError):
    """The caller asked for something that cannot be."""


class StoreError(Error, OSError):
    """A file, a disk, the network or a peer failed; ``errno`` is the system's code where there is one."""
