"""The properties of every array: a shape and a type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np


class ArrayBase(ABC):
    """An array of some shape and dtype."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
