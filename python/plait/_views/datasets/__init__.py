"""Plait as a backend of xarray, which finds it as an entry point: ``xarray.open_dataset(name, engine="plait")``."""

from .backend import PlaitBackend

__all__ = ["PlaitBackend"]
