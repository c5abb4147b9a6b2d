"""Regions of pipes: the elements that are read, those that are sent, and rejected regions, as for files."""

import numpy as np
import pytest
from pipe_ends import BackgroundThread, check_steps, make_step_array, read_steps, split_array, write_steps

import plait
from plait import Layout


def test_a_region_is_read():
    shape = (10, 12)
    writer = BackgroundThread(write_steps, "pipe:flow", Layout(shape, "(block, cyclic) onto (2, 3)"), 2)
    region = (slice(2, 9), slice(3, 4))
    layout = Layout((7, 1), "(cyclic, *) onto (3)")
    steps = read_steps("pipe:flow", layout, region=region)
    writer.result()
    check_steps(steps, lambda step: make_step_array(shape, step)[region], layout)


def test_only_the_elements_of_a_strided_region_are_sent():
    layout = Layout((100, 90), "(block, cyclic(4)) onto (2, 3)")
    writer = BackgroundThread(write_steps, "pipe:flow", layout, 1)
    region = np.s_[::2, 5:90:3]
    with plait.open("pipe:flow") as file:
        for _ in file:
            read_layout = Layout((50, 29), "(*, cyclic) onto (5)")
            assert "11.3 KiB in 1450 runs" in file.explain(read_layout, region)  # 50 * 29 doubles
            actual = file.read(read_layout, region=region)
            expected_parts = split_array(make_step_array((100, 90), 0)[region], read_layout)
            for part, expected in zip(actual, expected_parts, strict=True):
                np.testing.assert_array_equal(part, expected)
    writer.result()


def test_halos_of_a_region_are_filled():
    layout = Layout((6,), "(block)", grid=(2,), halo=[(1, 1)], periodic=[0])
    writer = BackgroundThread(write_steps, "pipe:flow", Layout((12, 3), "(cyclic, block) onto (2, 2)"), 1)
    (arrays,) = read_steps("pipe:flow", layout, region=np.s_[::2, 1], fill_halo=True)
    writer.result()
    np.testing.assert_array_equal(arrays, [[31, 1, 7, 13, 19], [13, 19, 25, 31, 1]])


def read_or_error_text(file, region):
    """Return the elements that are read, or the text of the error."""
    try:
        return file.read(region=region)
    except plait.ArgumentError as error:
        return str(error)


def read_error_text(file, *args, **kwargs):
    with pytest.raises(plait.ArgumentError) as error:
        file.read(*args, **kwargs)
    return str(error.value)


@pytest.mark.parametrize(
    "region", [np.s_[::-1], np.s_[7:2], np.s_[9, 99], np.s_[99:200:3], np.s_[-99], np.s_[1:2, 3, 4], np.s_[::0]]
)
def test_regions_equal_those_of_files(tmp_path, region):
    shape = (10, 4)
    np.save(tmp_path / "a.npy", make_step_array(shape, 0))
    writer = BackgroundThread(write_steps, "pipe:flow", Layout(shape, "(cyclic(3), block) onto (2, 2)"), 1)
    with plait.open(tmp_path / "a.npy") as file, plait.open("pipe:flow") as pipe:
        for _ in pipe:
            np.testing.assert_array_equal(read_or_error_text(file, region), read_or_error_text(pipe, region))
            other_shape = Layout((3, 3), "(*, *) onto ()")
            texts = [read_error_text(opened, other_shape, region=np.s_[:2]) for opened in (file, pipe)]
            assert texts[0] == texts[1]
    writer.result()


def test_steps_are_indexed_like_arrays(meeting_folder):
    shape = (10, 12)
    writer = BackgroundThread(write_steps, "pipe:flow", Layout(shape, "(block, cyclic) onto (2, 3)"), 3)
    with plait.open("pipe:flow") as file:
        assert "begin a step first" in index_error_text(file, [1, 2])
        for step in file:
            expected = make_step_array(shape, step.number)
            for index in (np.s_[2, 3], np.s_[::-2, 4:1:-1], np.s_[[7, 1, 1], 3:], expected % 3 == 1, ...):
                np.testing.assert_array_equal(file[index], expected[index])
            np.testing.assert_array_equal(file.astype("i4")[1], expected[1].astype("i4"))
    writer.result()


def index_error_text(file, index):
    with pytest.raises(plait.ArgumentError) as error:
        file[index]
    return str(error.value)


def test_a_step_is_assigned_like_an_array(meeting_folder):
    expected = np.zeros((6, 4))
    expected[:, ::-1] = np.arange(4)

    def write():
        with plait.open("pipe:flow", "w", shape=(6, 4), dtype="f8") as file:
            file[:, ::-1] = np.arange(4)

    writer = BackgroundThread(write)
    ((array,),) = read_steps("pipe:flow", Layout((6, 4), "(*, *)"))
    writer.result()
    np.testing.assert_array_equal(array, expected)
