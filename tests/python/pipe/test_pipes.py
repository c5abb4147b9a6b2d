"""Pipes between two threads of one process; each end has all ranks of its layout."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipe_ends import BackgroundThread, as_argument, check_steps, make_step_array, read_steps, write_steps

import plait
from plait import Layout

PAIRS = [
    ("(block, *) onto (4)", "(block, *) onto (4)"),
    ("(block, *) onto (4)", "(*, block) onto (3)"),
    ("(cyclic, *) onto (3)", "(block, block) onto (2, 2)"),
    ("(cyclic(3), cyclic) onto (2, 2)", "(*, cyclic(2)) onto (5)"),
    ("(block, block) onto (2, 2)", "(block, *) onto (6) order=F"),
    ("(*, *) onto ()", "(cyclic(2), cyclic(5)) onto (2, 3)"),
    ("(balanced, *) onto (4) order=F", "(*, *) onto ()"),
]


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("dtype", ["f8", "u1", "S3", "c16"])
def test_each_step_arrives_in_the_readers_layout(source, target, dtype):
    shape = (13, 11)
    writer = BackgroundThread(write_steps, "pipe:flow", Layout(shape, source), 4, dtype)
    layout = Layout(shape, target)
    steps = read_steps("pipe:flow", layout)
    writer.result()
    assert len(steps) == 4
    check_steps(steps, lambda step: make_step_array(shape, step, dtype), layout)


@st.composite
def layouts(draw, shape):
    """Draw a layout of an array of this shape."""
    dists, grid = [], []
    for _ in shape:
        dist = draw(st.sampled_from(["*", "block", "cyclic", "cyclic(2)", "cyclic(3)", "balanced"]))
        dists.append(dist)
        if dist != "*":
            grid.append(draw(st.integers(1, 4)))
    return Layout(shape, f"({', '.join(dists)})", grid=tuple(grid), order=draw(st.sampled_from("CF")))


def region_strategy(size):
    """Draw a slice with a stride or a single index; in about half of the cases all indices."""
    ends = st.lists(st.integers(-size - 2, size + 2), min_size=2, max_size=2)
    slices = st.tuples(ends, st.integers(1, 5)).map(lambda drawn: slice(*drawn[0], drawn[1]))
    return st.just(slice(None)) | slices | (st.integers(-size, size - 1) if size > 0 else slices)


@settings(max_examples=60)
@given(st.data())
def test_arrays_arrive_in_any_layouts(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=3)))
    source = data.draw(layouts(shape))
    region = tuple(data.draw(region_strategy(size)) for size in shape)
    target = data.draw(layouts(make_step_array(shape, 0)[region].shape))
    writer = BackgroundThread(write_steps, "pipe:flow", source, 2)
    steps = read_steps("pipe:flow", target, region=region)
    writer.result()
    check_steps(steps, lambda step: make_step_array(shape, step)[region], target)


def test_halos_are_filled():
    layout = Layout((12,), "(block)", grid=(3,), halo=[(1, 2)])
    writer = BackgroundThread(write_steps, "pipe:flow", Layout((12,), "(cyclic) onto (2)"), 1)
    (arrays,) = read_steps("pipe:flow", layout, fill_halo=True)
    writer.result()
    np.testing.assert_array_equal(arrays[1], np.arange(3.0, 10.0))


def test_attributes_and_variables_of_a_step_arrive():
    def write():
        with plait.open("pipe:flow", "w", shape=(4,), dtype="f4") as file:
            for number in range(3):
                file.begin_step({"time": 0.5 * number, "name": "r\u00fcn", "count": np.int32(number)})
                file.write(np.full(4, number, "f4"))
                file.write(np.arange(6, dtype="i2").reshape(2, 3) + number, variable="pressure")
                file.end_step()

    writer = BackgroundThread(write)
    with plait.open("pipe:flow", shape=(4,), dtype="f4") as file:
        assert (file.shape, file.dtype) == ((4,), np.dtype("f4"))
        numbers = []
        for step in file:
            assert step.attributes == {"time": 0.5 * step.number, "name": "r\u00fcn", "count": step.number}
            assert step.variables == ("data", "pressure")
            assert (file.read(variable="data") == step.number).all()
            pressure = file.read(variable="pressure")
            assert pressure.dtype == np.dtype("i2")
            np.testing.assert_array_equal(pressure, np.arange(6).reshape(2, 3) + step.number)
            with pytest.raises(plait.ArgumentError, match="which has: data, pressure"):
                file.read(variable="heat")
            numbers.append(step.number)
        assert numbers == [0, 1, 2]
        with pytest.raises(plait.StoreError, match="no more steps"):
            file.read()
    writer.result()


@pytest.mark.parametrize("queue", [1, 40])
def test_attributes_may_differ_between_steps(queue):
    lengths = [0, 10, 5000, 10, 10, 100_000, 0, *range(60)]

    def write():
        with plait.open(f"pipe:flow?queue={queue}", "w", shape=(4,), dtype="f4") as file:
            for number, length in enumerate(lengths):
                file.begin_step({"name": "x" * length} if length else {})
                file.write(np.full(4, number, "f4"))
                file.end_step()

    writer = BackgroundThread(write)
    with plait.open("pipe:flow") as file:
        steps = []
        for step in file:
            assert (file.read() == step.number).all()
            steps.append(len(step.attributes.get("name", "")))
    assert steps == lengths
    writer.result()


def test_ends_can_wait_for_each_other_in_turn():
    """With a queue of one step, and ends that pause, each end sometimes sleeps and is woken up."""
    steps = 60

    def write():
        with plait.open("pipe:flow?queue=1", "w", shape=(3,), dtype="f8") as file:
            for number in range(steps):
                time.sleep(0.002 * (number % 3))
                file.write(np.full(3, float(number)))

    writer = BackgroundThread(write)
    with plait.open("pipe:flow") as file:
        for step in file:
            time.sleep(0.002 * (step.number % 4))
            assert (file.read() == step.number).all()
    assert step.number == steps - 1
    writer.result()


def test_steps_can_be_left_unread_and_reading_can_stop():
    writer = BackgroundThread(write_steps, "pipe:flow?queue=1", Layout((5,), "(*) onto ()"), 10)
    with plait.open("pipe:flow") as file:
        for step in file:
            if step.number == 3:
                break
    with plait.open("pipe:flow") as file:
        numbers = [step.number for step in file]
    assert numbers == list(range(numbers[0], 10))
    assert numbers[0] in (3, 4)
    writer.result()


def test_each_of_several_readers_gets_every_step():
    layout = Layout((6,), "(block) onto (2)")
    readers = [BackgroundThread(read_steps, "pipe:flow", layout) for _ in range(3)]
    write_steps("pipe:flow?readers=3", Layout((6,), "(cyclic) onto (3)"), 7)
    for reader in readers:
        steps = reader.result()
        assert len(steps) == 7
        for step, arrays in enumerate(steps):
            np.testing.assert_array_equal(np.concatenate(arrays), make_step_array((6,), step))


def test_a_reader_that_left_early_counts_as_required_reader():
    """A writer waits until `readers` readers have connected; readers that have left count."""
    layout = Layout((6,), "(*) onto ()")
    writer = BackgroundThread(write_steps, "pipe:flow?readers=2&timeout=10", layout, 3)
    with plait.open("pipe:flow"):
        pass
    assert len(read_steps("pipe:flow", layout)) == 3
    writer.result()


def test_a_monitor_gets_the_newest_step_and_delays_no_other_end():
    with plait.open("pipe:flow?drop=oldest&readers=0", "w", shape=(3,), dtype="f8") as file:
        for step in range(5):
            file.write(np.full(3, float(step)))
        with plait.open("pipe:flow") as monitor:
            first = monitor.begin_step()
            assert first.number == 3
            for step in range(5, 50):
                file.write(np.full(3, float(step)))
            assert (monitor.read() == 3).all()
            monitor.end_step()
            assert (monitor.read() == 49).all()


def test_the_writer_waits_while_the_queue_is_full():
    written = []

    def write():
        with plait.open("pipe:flow?queue=2", "w", shape=(2,), dtype="f8") as file:
            for step in range(6):
                file.write(np.full(2, float(step)))
                written.append(step)

    writer = BackgroundThread(write)
    with plait.open("pipe:flow") as file:
        time.sleep(0.2)
        assert written == [0, 1]
        assert file.begin_step().number == 0
        time.sleep(0.1)
        assert written == [0, 1]
        file.end_step()
        time.sleep(0.1)
        assert written == [0, 1, 2]
        assert [step.number for step in file] == [1, 2, 3, 4, 5]
    writer.result()


@pytest.mark.parametrize("options", [{"shape": (4,)}, {"dtype": "f4"}])
def test_incompatible_ends_are_reported_at_both(options):
    def write():
        with plait.open("pipe:flow?timeout=20", "w", shape=(5,), dtype="f8"):
            raise AssertionError

    writer = BackgroundThread(write)
    texts = []
    with pytest.raises(plait.ArgumentError, match="the two ends differ") as error:
        plait.open("pipe:flow", **options)
    texts.append(str(error.value))
    with pytest.raises(plait.Error, match="the two ends differ") as error:
        writer.result()
    texts.append(str(error.value))
    for text in texts:
        assert "5 <f8" in text
        assert ("4 <f8" if "shape" in options else "5 <f4") in text


def test_a_missing_end_is_named():
    with pytest.raises(plait.StoreError, match=r"no writer has come within 0\.2 s"):
        plait.open("pipe:flow?timeout=0.2")
    with pytest.raises(plait.StoreError, match=r"no reader has come within 0\.2 s"):
        plait.open("pipe:flow?timeout=0.2", "w", shape=(3,), dtype="f8")
    with pytest.raises(plait.StoreError, match=r"no reader has come within 0\.1 s"):
        write_steps("pipe:flow?readers=0&timeout=0.1", Layout((3,), "(*) onto ()"), 5)


def test_a_name_has_one_writer():
    with plait.open("pipe:flow?readers=0&drop=oldest", "w", shape=(3,), dtype="f8"):
        with pytest.raises(plait.StoreError, match="another program writes to the pipe flow") as error:
            plait.open("pipe:flow", "w", shape=(3,), dtype="f8")
        assert "process" in str(error.value)
    with plait.open("pipe:flow?readers=0&drop=oldest", "w", shape=(3,), dtype="f8"):
        pass


def test_an_abort_arrives_with_its_reason():
    def write():
        with plait.open("pipe:flow", "w", shape=(3,), dtype="f8") as file:
            file.write(np.zeros(3))
            raise ZeroDivisionError("the model blew up")

    def read():
        with plait.open("pipe:flow") as file:
            for _ in range(3):
                file.read()

    writer = BackgroundThread(write)
    with pytest.raises(plait.StoreError, match=r"given up: .*ZeroDivisionError: the model blew up"):
        read()
    with pytest.raises(ZeroDivisionError):
        writer.result()


def test_a_reader_that_fails_is_an_error_of_its_writer():
    def read():
        with plait.open("pipe:flow") as file:
            file.read()
            raise ZeroDivisionError

    reader = BackgroundThread(read)
    with pytest.raises(plait.StoreError, match=r"the reader .* has failed: ZeroDivisionError"):
        write_steps("pipe:flow", Layout((3,), "(*) onto ()"), 10)
    with pytest.raises(ZeroDivisionError):
        reader.result()


def test_an_ordinary_file_has_the_last_step(tmp_path):
    """The same program writes to a file, whose only step is the last one written."""
    path = tmp_path / "a.npy"
    with plait.open(path, "w", shape=(3,), dtype="f8") as file:
        for number in range(3):
            assert file.begin_step({"time": 1.0}).number == number
            file.write(np.full(3, float(number)))
            file.end_step()
        with pytest.raises(plait.ArgumentError, match="no step has begun"):
            file.end_step()
        with pytest.raises(plait.ArgumentError, match="one array"):
            file.write(np.zeros(3), variable="pressure")
    with plait.open(path) as file:
        assert [(step.number, file.read().tolist()) for step in file] == [(0, [2.0, 2.0, 2.0])]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda file: file.begin_step([1]), "not a mapping"),
        (lambda file: file.begin_step({"a": [1]}), "numbers and texts"),
        (lambda file: file.begin_step({"a": 2**63}), "64 bits"),
        (lambda file: file.begin_step({3: 1}), "not a name"),
        (lambda file: file.end_step(), "no step has begun"),
        (lambda file: file.write(np.zeros(2), region=slice(0, 2)), "whole arrays"),
        (lambda file: file.write(np.zeros(3), variable=""), "not the name of an array"),
        (lambda file: file.write(None, variable="p"), "define"),
        (lambda file: file.stream(), "stream"),
    ],
)
def test_invalid_calls_are_rejected(call, message):
    with plait.open("pipe:flow?readers=0&drop=oldest", "w", shape=(3,), dtype="f8") as file:
        with pytest.raises(plait.ArgumentError, match=message):
            call(file)
        file.write(np.zeros(3))


SECONDS_OF_UNIT = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def predicted_seconds(text):
    """Return the seconds in the prediction of an explanation."""
    number, unit = text.splitlines()[-1].removeprefix("predicted ").split()
    return float(number) * SECONDS_OF_UNIT[unit]


def test_an_explanation_states_messages_bytes_and_time():
    shape = (1200, 4000)
    writer = BackgroundThread(write_steps, "pipe:flow", Layout(shape, "(block, *) onto (3)"), 1)
    with plait.open("pipe:flow") as file:
        for _ in file:
            layout = Layout(shape, "(*, block) onto (2)")
            text = file.explain(layout)
            assert "6 messages, 36.6 MiB in 2400 runs" in text
            assert "36.6 MiB out of memory of this host, 0 B over the network" in text
            seconds_of_half = predicted_seconds(
                file.explain(Layout((600, 4000), "(*, block) onto (2)"), region=np.s_[:600])
            )
            assert 0 < seconds_of_half < predicted_seconds(text)
            # The transfer of single elements takes longer than that of rows.
            assert predicted_seconds(file.explain(Layout(shape, "(*, cyclic) onto (2)"))) > predicted_seconds(text)
            assert as_argument(file.read(layout))[0].shape == (1200, 2000)
    writer.result()
