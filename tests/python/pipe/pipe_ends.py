"""The writer and the reader of a pipe in one test: one of them runs in a background thread.

A pipe transfers an array in each time step. Arrays here have different elements in each step.
"""

import threading

import numpy as np

import plait


def make_step_array(shape, step, dtype="f8"):
    """Return the whole array of a time step, in which each element has a different number."""
    return (np.arange(np.prod(shape, dtype=int)).reshape(shape) + 1000 * step).astype(dtype)


def split_array(array, layout):
    """Return the local arrays of all ranks of a layout; the elements of halos are zero."""
    parts = []
    for rank in layout.rank_numbers:
        local = np.zeros(layout.padded_shape(rank), array.dtype, order="C")
        owned_part = tuple(
            slice(before, before + size)
            for (before, _), size in zip(_halo_widths(layout), layout.local_shape(rank), strict=True)
        )
        if 0 not in layout.local_shape(rank):
            local[owned_part] = array[np.ix_(*layout.indices(rank))]
        parts.append(local)
    return parts


def _halo_widths(layout):
    """Return the widths of the halos before and after the owned part, of each dimension."""
    return layout.halo or [(0, 0)] * len(layout.shape)


def as_argument(parts):
    """Return local arrays as File.write() takes them: a list, or the array itself if there is only one rank."""
    return parts[0] if len(parts) == 1 else parts


class BackgroundThread(threading.Thread):
    """Runs a function in a thread during the test, and passes on its result or its exception."""

    def __init__(self, body, *arguments, **keywords):
        super().__init__(daemon=True)
        self._body = lambda: body(*arguments, **keywords)
        self._result = None
        self._error = None
        self.start()

    def run(self):
        try:
            self._result = self._body()
        except BaseException as error:
            self._error = error

    def result(self, seconds=300):
        """Wait until the function ends, and return its result or raise its exception."""
        self.join(seconds)
        assert not self.is_alive(), f"the thread has not ended within {seconds} s"
        if self._error is not None:
            raise self._error
        return self._result


def write_steps(url, layout, count, dtype="f8"):
    """Write the arrays of `count` steps to a pipe, distributed by a layout."""
    with plait.open(url, "w", shape=layout.shape, dtype=dtype) as file:
        for step in range(count):
            file.write(as_argument(split_array(make_step_array(layout.shape, step, dtype), layout)), layout)


def check_steps(steps, expected, layout):
    """Compare the local arrays of all ranks in each step with `expected(step)`, the whole array."""
    for step, arrays in enumerate(steps):
        for actual, part in zip(arrays, split_array(expected(step), layout), strict=True):
            np.testing.assert_array_equal(actual, part)


def read_steps(url, layout, **options):
    """Return a list of the local arrays of each step of a pipe.

    options  further arguments of File.read()
    """
    steps = []
    with plait.open(url) as file:
        for _ in file:
            arrays = file.read(layout, **options)
            steps.append(arrays if isinstance(arrays, list) else [arrays])
    return steps
