"""Arrays in the memory of the process, with names such as memory:NAME."""

import contextlib
import os

import numpy as np
import pytest

import plait

ROWS = plait.Layout((5, 7), "(block, *)", grid=(3,))


def write(name: str, array: np.ndarray) -> None:
    with plait.open(name, "w", shape=array.shape, dtype=array.dtype) as file:
        file.write(array, row_layout(array.shape))


def row_layout(shape: tuple[int, ...]) -> plait.Layout:
    return plait.Layout(shape, ["block"] + ["*"] * (len(shape) - 1), grid=(1,))


def read(name: str) -> np.ndarray:
    with plait.open(name) as file:
        return file.read(row_layout(file.shape))


def test_arrays_are_read_in_any_layout() -> None:
    array = np.arange(35, dtype="f4").reshape(5, 7)
    with plait.open("memory:layouts", "w", shape=(5, 7), dtype="f4") as file:
        file.write([array[list(ROWS.indices(rank)[0])] for rank in range(3)], ROWS)
    with plait.open("memory:layouts") as file:
        assert (file.shape, file.dtype, file.order) == ((5, 7), np.dtype("f4"), "C")
        columns = plait.Layout((5, 7), "(*, cyclic)", grid=(2,))
        for rank, part in enumerate(file.read(columns)):
            np.testing.assert_array_equal(part, array[:, rank::2])


def test_a_new_array_replaces_the_old_one_when_it_is_closed() -> None:
    first, second = np.arange(4.0), np.arange(9)
    with plait.open("memory:later", "w", shape=(4,), dtype="f8") as file:
        file.write(first, row_layout((4,)))
        with pytest.raises(FileNotFoundError, match="has not made an array of that name"):
            plait.open("memory:later")
    old = plait.open("memory:later")
    write("memory:later", second)
    np.testing.assert_array_equal(old.read(row_layout((4,))), first)
    old.close()
    np.testing.assert_array_equal(read("memory:later"), second)


def test_an_array_that_fails_to_be_written_leaves_the_old_one() -> None:
    write("memory:unchanged", np.arange(3))
    with (
        contextlib.suppress(ZeroDivisionError),
        plait.open("memory:unchanged", "w", shape=(3,), dtype="i8") as file,
    ):
        file.write(np.zeros(3, "i8"), row_layout((3,)))
        raise ZeroDivisionError
    np.testing.assert_array_equal(read("memory:unchanged"), np.arange(3))


def test_parts_are_changed_in_place() -> None:
    write("memory:position", np.zeros((4, 4), "u2"))
    with plait.open("memory:position", "r+") as file:
        file.write(np.ones((2, 1), "u2"), row_layout((2, 1)), region=np.s_[1:3, 2:3])
    expected = np.zeros((4, 4), "u2")
    expected[1:3, 2:3] = 1
    np.testing.assert_array_equal(read("memory:position"), expected)


def test_empty_arrays_are_possible() -> None:
    write("memory:empty", np.zeros((0, 3)))
    assert read("memory:empty").shape == (0, 3)


def test_a_forked_child_starts_without_arrays() -> None:
    write("memory:parent", np.arange(3))
    child = os.fork()
    if child == 0:
        try:
            plait.open("memory:parent")
        except FileNotFoundError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("memory:", "there is no name after memory:; give one, as in memory:field"),
        ("memory:never", "make it with mode"),
        ("memori:a", "did you mean memory:a"),
    ],
)
def test_errors_say_what_to_do(name: str, message: str) -> None:
    with pytest.raises(plait.Error, match=message):
        plait.open(name)
