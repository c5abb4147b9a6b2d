"""plait.copy from and to pipes and streams: steps, arrays of a step, and copies that are rejected."""

import io
import os

import numpy as np
import pytest
from pipe_ends import BackgroundThread, make_step_array

import plait

pytestmark = pytest.mark.usefixtures("nothing_left")
SHAPE = (7, 5)


def write(count=3, *, second=False, url="pipe:flow", dtype="f8", attributes=None):
    with plait.open(url, "w", shape=SHAPE, dtype=dtype) as file:
        for number in range(count):
            file.begin_step(attributes or {"time": 0.5 * number})
            file.write(make_step_array(SHAPE, number, dtype))
            if second:
                file.define("pressure", (number + 2,), "i2")
                file.write(np.full(number + 2, number, "i2"), variable="pressure")
            file.end_step()


def read(url="pipe:flow"):
    """Return number, attributes and arrays of each step."""
    steps = []
    with plait.open(url) as file:
        for step in file:
            steps.append((step.number, step.attributes, {name: file.read(variable=name) for name in step.variables}))
    return steps


def file_names(folder):
    """Return the names in a folder, without the meeting folder of pipes."""
    return sorted(path.name for path in folder.iterdir() if path.name != "meet")


@pytest.mark.parametrize("order", [None, "F"])
@pytest.mark.parametrize("memory", [256 << 20, 300])
def test_each_step_becomes_a_file(tmp_path, order, memory):
    writer = BackgroundThread(write)
    summary = plait.copy("pipe:flow", tmp_path / "a-{step:03}.npy", order=order, memory=memory)
    writer.result()
    assert (summary.steps, summary.bytes, summary.shape, summary.dtype) == (3, 3 * 35 * 8, SHAPE, np.dtype("f8"))
    assert (summary.windows > 3) == (memory == 300)
    assert file_names(tmp_path) == ["a-000.npy", "a-001.npy", "a-002.npy"]
    for number in range(3):
        actual = np.load(tmp_path / f"a-{number:03}.npy")
        assert actual.flags.f_contiguous == (order == "F")
        np.testing.assert_array_equal(actual, make_step_array(SHAPE, number))


def test_the_only_step_becomes_the_file(tmp_path):
    writer = BackgroundThread(write, 1, dtype=">i4")
    plait.copy("pipe:flow", tmp_path / "a.npy")
    writer.result()
    actual = np.load(tmp_path / "a.npy")
    assert actual.dtype == ">i4"
    np.testing.assert_array_equal(actual, make_step_array(SHAPE, 0))


def test_a_second_step_needs_its_own_name(tmp_path):
    (tmp_path / "a.npy").write_bytes(b"old")
    writer = BackgroundThread(write, 3)
    with pytest.raises(
        plait.ArgumentError, match=r"put \{step\} into its name, .* or copy only the first with steps=1"
    ):
        plait.copy("pipe:flow", tmp_path / "a.npy")
    assert (tmp_path / "a.npy").read_bytes() == b"old"
    assert file_names(tmp_path) == ["a.npy"]
    # The reader leaves without stopping the writer; the next reader continues after the last step that was begun.
    assert [step[0] for step in read()] == [2]
    writer.result()


def test_selected_steps_are_copied(tmp_path):
    writer = BackgroundThread(write, 5)
    assert plait.copy("pipe:flow", tmp_path / "a.npy", steps=1).steps == 1
    assert plait.copy("pipe:flow", tmp_path / "a-{step}.npy", steps=2).steps == 2
    assert [step[0] for step in read()] == [3, 4]
    writer.result()
    assert file_names(tmp_path) == ["a-1.npy", "a-2.npy", "a.npy"]


def test_arrays_of_a_step_become_files(tmp_path):
    writer = BackgroundThread(write, 2, second=True)
    plait.copy("pipe:flow", tmp_path / "{variable}-{step}.npy")
    writer.result()
    assert file_names(tmp_path) == ["data-0.npy", "data-1.npy", "pressure-0.npy", "pressure-1.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "pressure-1.npy"), np.full(3, 1, "i2"))
    writer = BackgroundThread(write, 2, second=True)
    plait.copy("pipe:flow", tmp_path / "p{step}.npy", variable="pressure")
    writer.result()
    assert np.load(tmp_path / "p1.npy").dtype == "i2"
    assert {"p0.npy", "p1.npy"} < set(file_names(tmp_path))


@pytest.mark.parametrize(
    ("target", "variable", "text"),
    [
        ("a.npy", None, r"has the arrays data, pressure; choose one with variable=, put \{variable\} into the name"),
        ("a.npy", "heat", "has no array 'heat'; it has: data, pressure"),
        ("a-{step:x}.npy", None, r"\{step:x\} is not a format for a number"),
        ("a-{variable:3}.npy", None, r"\{variable:3\} is not a format for a name"),
    ],
)
def test_arrays_that_the_target_cannot_hold_are_rejected(tmp_path, target, variable, text):
    writer = BackgroundThread(write, 2, second=True)
    with pytest.raises(plait.ArgumentError, match=text):
        plait.copy("pipe:flow", tmp_path / target, variable=variable)
    assert file_names(tmp_path) == []
    assert read()[-1][0] == 1
    writer.result()


def test_array_names_cannot_leave_the_folder(tmp_path):
    def write_badly():
        with plait.open("pipe:flow", "w", shape=(3,), dtype="f8") as file:
            for _ in range(2):
                file.write(np.zeros(3), variable="../b")

    folder = tmp_path / "a"
    folder.mkdir()
    writer = BackgroundThread(write_badly)
    with pytest.raises(plait.ArgumentError, match="has a name that cannot be the name of a file"):
        plait.copy("pipe:flow", folder / "{variable}")
    assert (file_names(tmp_path), file_names(folder)) == (["a"], [])
    assert read()[-1][0] == 1
    writer.result()


def test_a_relay_passes_on_everything():
    writer = BackgroundThread(write, 3, second=True)
    reader = BackgroundThread(read, "pipe:next")
    summary = plait.copy("pipe:flow", "pipe:next")
    writer.result()
    assert summary.steps == 3
    for number, (step, attributes, arrays) in enumerate(reader.result()):
        assert (step, attributes, list(arrays)) == (number, {"time": 0.5 * number}, ["data", "pressure"])
        np.testing.assert_array_equal(arrays["data"], make_step_array(SHAPE, number))
        np.testing.assert_array_equal(arrays["pressure"], np.full(number + 2, number, "i2"))
    with pytest.raises(plait.ArgumentError, match="is the source itself"):
        plait.copy("pipe:flow", "pipe:flow?queue=3")


def test_files_become_steps(tmp_path):
    for number in range(3):
        np.save(tmp_path / f"a-{number}.npy", np.asfortranarray(make_step_array(SHAPE, number)))
    sources = [tmp_path / f"a-{number}.npy" for number in range(3)]
    reader = BackgroundThread(read)
    assert plait.copy(sources, "pipe:flow").steps == 3
    for number, (_, _, arrays) in enumerate(reader.result()):
        np.testing.assert_array_equal(arrays["data"], make_step_array(SHAPE, number))
    plait.copy(sources, tmp_path / "b-{step}.npy")
    assert (tmp_path / "b-2.npy").read_bytes() == (tmp_path / "a-2.npy").read_bytes()
    np.save(tmp_path / "other.npy", np.zeros(4))
    for files, target, text in [
        (sources, tmp_path / "c.npy", "3 sources make as many steps, but .* holds one"),
        (sources, tmp_path / "a-{step}.npy", "is a source itself"),
        (
            [*sources, tmp_path / "other.npy"],
            "pipe:flow",
            "other.npy has shape 4 and type float64, but .*a-0.npy has shape",
        ),
        ([*sources, "pipe:flow"], "pipe:other", "several sources must all be files"),
        ([], "pipe:flow", "there is no source"),
    ]:
        with pytest.raises(plait.ArgumentError, match=text):
            plait.copy(files, target)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("memory", [256 << 20, 300])
def test_streams_of_npy_files_are_written_and_read(tmp_path, order, memory):
    arrays = [np.array(make_step_array(SHAPE, number, ">f4"), order=order) for number in range(3)]
    stream = io.BytesIO()
    writer = BackgroundThread(write, 3)
    assert plait.copy("pipe:flow", stream, order=order, memory=memory).steps == 3
    writer.result()
    stream.seek(0)
    for number in range(3):
        actual = np.load(stream)
        assert actual.flags.f_contiguous == (order == "F")
        np.testing.assert_array_equal(actual, make_step_array(SHAPE, number))
    assert stream.read() == b""
    stream = io.BytesIO()
    for array in arrays:
        np.save(stream, array)
    stream.seek(0)
    reader = BackgroundThread(read)
    plait.copy(stream, "pipe:flow")
    for array, (_, _, actual) in zip(arrays, reader.result(), strict=True):
        assert actual["data"].dtype == ">f4"
        np.testing.assert_array_equal(actual["data"], array)
    stream.seek(0)
    plait.copy(stream, tmp_path / "a{step}.npy", memory=memory)
    np.save(tmp_path / "b.npy", arrays[2])
    assert (tmp_path / "a2.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    again = io.BytesIO()
    plait.copy([tmp_path / f"a{number}.npy" for number in range(3)], again, memory=memory)
    assert again.getvalue() == stream.getvalue()


def test_streams_of_raw_elements_are_written_and_read(tmp_path):
    stream = io.BytesIO()
    writer = BackgroundThread(write, 2)
    plait.copy("pipe:flow", stream, raw=True)
    writer.result()
    assert stream.getvalue() == make_step_array(SHAPE, 0).tobytes() + make_step_array(SHAPE, 1).tobytes()
    stream.seek(0)
    assert plait.copy(stream, tmp_path / "a{step}.npy", raw=True, shape=SHAPE, dtype="f8").steps == 2
    np.testing.assert_array_equal(np.load(tmp_path / "a1.npy"), make_step_array(SHAPE, 1))


def npy_bytes(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "options", "text"),
    [
        (b"", {}, "the stream is empty; nothing was copied"),
        (
            b"no array",
            {},
            r"array 0 does not begin like a .npy file, but with b'no array'; .* pass raw, shape and dtype",
        ),
        (npy_bytes(np.zeros(9))[:-1], {}, "ends within array 0: 1 bytes of it are missing"),
        (npy_bytes(np.zeros(9))[:20], {}, "ends within the header of array 0"),
        (b"\x93NUMPY\x09\x00", {}, "is of version 9 of .npy"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", {}, "has a header of 4294967295 bytes"),
        (b"\x93NUMPY\x01\x00\x04\x00{no}", {}, "has a damaged .npy header"),
        (npy_bytes(np.zeros(9)), {"shape": (8,)}, r"array 0 has shape \(9,\) and type float64, but \(8,\) and float64"),
        (bytes(5), {"raw": True, "shape": 3, "dtype": "i2"}, "ends within array 0: 1 bytes of it are missing"),
        (bytes(9), {"raw": True}, "give the shape and dtype"),
        (bytes(9), {"raw": True, "shape": 0, "dtype": "i2"}, "has no elements"),
        (npy_bytes(np.zeros(9)), {"layout": "(block) onto (2)"}, "leave comm and layout out"),
    ],
)
def test_wrong_streams_are_errors(tmp_path, data, options, text):
    (tmp_path / "a.npy").write_bytes(b"old")
    with pytest.raises(plait.Error, match=text):
        plait.copy(io.BytesIO(data), tmp_path / "a.npy", **options)
    assert (tmp_path / "a.npy").read_bytes() == b"old"
    assert file_names(tmp_path) == ["a.npy"]


def test_raw_streams_hold_one_array(tmp_path):
    for source, target in [("a.npy", "b.npy"), (io.BytesIO(), io.BytesIO())]:
        with pytest.raises(plait.ArgumentError, match="pass one stream"):
            plait.copy(source, target, raw=True)


def test_an_ordinary_file_gets_whole_arrays_only(tmp_path):
    """A failing copy removes the incomplete array from the stream's file."""

    def fail(done, total):
        if done > total - 100:
            raise ZeroDivisionError

    np.save(tmp_path / "a.npy", make_step_array(SHAPE, 0))
    with open(tmp_path / "b", "wb") as stream:
        plait.copy(tmp_path / "a.npy", stream)
        with pytest.raises(ZeroDivisionError):
            plait.copy(tmp_path / "a.npy", stream, memory=300, progress=fail)
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a.npy").read_bytes()


def test_a_closed_stream_does_not_end_the_writer():
    read_end, write_end = os.pipe()
    os.close(read_end)
    writer = BackgroundThread(write, 2)
    with open(write_end, "wb") as stream, pytest.raises(BrokenPipeError):
        plait.copy("pipe:flow", stream)
    assert [step[0] for step in read()] == [1]
    writer.result()


def test_a_full_disk_is_reported_at_both_ends():
    writer = BackgroundThread(write, 100)
    with open("/dev/full", "wb") as stream, pytest.raises(OSError, match="/dev/full, step 0: No space left on device"):
        plait.copy("pipe:flow", stream)
    with pytest.raises(plait.StoreError, match=r"the reader .* has failed"):
        writer.result()


def test_a_pipe_without_steps_is_an_error(tmp_path):
    writer = BackgroundThread(write, 0)
    with pytest.raises(plait.StoreError, match="its writer has closed it without a step; nothing was copied"):
        plait.copy("pipe:flow", tmp_path / "a.npy")
    writer.result()
    assert file_names(tmp_path) == []


def test_a_writer_that_fails_leaves_no_file(tmp_path):
    def write_and_fail():
        with plait.open("pipe:flow", "w", shape=SHAPE, dtype="f8") as file:
            file.write(make_step_array(SHAPE, 0))
            raise ZeroDivisionError

    writer = BackgroundThread(write_and_fail)
    with pytest.raises(plait.StoreError):
        plait.copy("pipe:flow", tmp_path / "a.npy")
    with pytest.raises(ZeroDivisionError):
        writer.result()
    assert file_names(tmp_path) == []
