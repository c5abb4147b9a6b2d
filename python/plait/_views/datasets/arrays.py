"""Arrays in files that xarray indexes, and that are read only then."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from xarray.backends import BackendArray, CachingFileManager
from xarray.core import indexing

from ..._file.file import File
from ..._file.open import open
from ..joined import Concatenation
from .variables import DatasetVariable, to_xarray_dtype


def _open_unclosed(url: str, mode: Literal["r"], **options: Any) -> File:
    """Open a file that xarray may close, or may leave open until the program ends."""
    file = open(url, mode, **options)
    file._may_stay_open = True
    return file


class LazyArray(BackendArray):
    """An array whose elements are read when it is indexed.

    Any number of threads may index it; their reads take turns. It is pickled as the name of its file, which the next
    read opens again. xarray limits the number of open files by its option ``file_cache_maxsize``.
    """

    def __init__(self, variable: DatasetVariable) -> None:
        """Store the description; the file is opened by the first read."""
        self.shape = variable.shape
        self.dtype = variable.dtype
        self._files = CachingFileManager(_open_unclosed, variable.url, mode="r", kwargs=dict(variable.options))

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        """Read the elements of an index of xarray."""
        # Slices of any step and one list are supported: several lists have different meanings in xarray and NumPy.
        kind = indexing.IndexingSupport.OUTER_1VECTOR
        return indexing.explicit_indexing_adapter(key, self.shape, kind, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        file: File = self._files.acquire()
        return np.asarray(file[key]).astype(self.dtype, copy=False)

    def close(self) -> None:
        """Close the file if it is open; reading opens it again."""
        self._files.close()


class LazyConcatenation(BackendArray):
    """A joined array whose elements are read when it is indexed. It is pickled as the names of its files."""

    def __init__(self, joined: Concatenation) -> None:
        """Store the array, which another object closes."""
        self.shape = joined.shape
        self.dtype = to_xarray_dtype(joined.dtype)
        self._joined = joined

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        """Read the elements of an index of xarray."""
        kind = indexing.IndexingSupport.OUTER_1VECTOR
        return indexing.explicit_indexing_adapter(key, self.shape, kind, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        return np.asarray(self._joined[key]).astype(self.dtype, copy=False)

    def close(self) -> None:
        """Close its files."""
        self._joined.close()
