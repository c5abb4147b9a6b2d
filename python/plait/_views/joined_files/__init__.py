"""Joins whole files along a dimension."""

from .joining import open_many
from .mapping import JoinedFiles
from .request import JoinRequest

__all__ = ["JoinRequest", "JoinedFiles", "open_many"]
