"""Uploads in parts to S3 that killed programs leave: copies resume them, and `plait clean` aborts them."""

import io
import json
import signal
import subprocess
import sys
import time
import urllib.parse

import h5py
import launching
import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait.cli import main

LARGE = np.random.default_rng(2).integers(0, 1 << 30, (2500, 1999), dtype="i8")  # 40 MB: five parts
PARTS = 5
NAMES = ["t.npy", "t.h5::x", "t.nc::x"]


@pytest.fixture(autouse=True)
def no_uploads(server):
    """Begin and end without unfinished uploads on the server, which other tests share."""
    yield
    server.set_faults()
    run_clean("s3://public/u", "--older", "0")


@pytest.fixture
def source(tmp_path):
    np.save(tmp_path / "x.npy", LARGE)
    return str(tmp_path / "x.npy")


def run_clean(*arguments):
    """Run `plait clean`, which must succeed, and return its output."""
    result = CliRunner().invoke(main, ["clean", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def list_uploads(server):
    """Return the numbers of the stored parts of each unfinished upload."""
    return json.loads(server.send_unsigned("GET", "/-/uploads"))


def take_sent_parts(server):
    """Return the numbers of the parts in the requests since the last call."""
    queries = [urllib.parse.parse_qs(entry["query"]) for entry in server.take_log() if entry["method"] == "PUT"]
    return sorted(int(query["partNumber"][0]) for query in queries if "partNumber" in query)


def open_object(server, name):
    return io.BytesIO(server.send_unsigned("GET", f"/public/{name}"))


def read_array(server, name):
    """Return the array of an object, by the format's own library."""
    file, _, array = name.partition("::")
    if not array:
        return np.load(open_object(server, file))
    with h5py.File(open_object(server, file)) as hdf5_file:
        return hdf5_file[array][:]


def kill_copy(server, source, target, *options, kill=signal.SIGKILL, after=2):
    """Kill a copy when the server has stored `after` parts of its upload; return its exit status and error messages."""
    before = list_uploads(server)
    server.set_faults(delay=0.15)
    command = [sys.executable, "-m", "plait.cli", "copy", source, target, *options]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while sum(map(len, list_uploads(server)[len(before) :])) < after:
        assert program.poll() is None, program.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.01)
    if kill == signal.SIGTERM:
        server.set_faults(delay=1.5)  # the program does not end by itself soon enough
    program.send_signal(kill)
    message = program.communicate()[1]
    time.sleep(0.3)  # requests that have arrived are still answered
    server.set_faults()
    server.take_log()
    if kill == signal.SIGKILL:
        assert len(list_uploads(server)) == len(before) + 1
    return program.returncode, message


@pytest.mark.parametrize("name", NAMES)
def test_stored_parts_are_not_sent_again(server, source, name):
    target = f"s3://public/u/{name}"
    kill_copy(server, source, target)
    plait.copy(source, target, resume=True)
    sent = take_sent_parts(server)
    assert len(sent) < PARTS - 1
    np.testing.assert_array_equal(read_array(server, f"u/{name}"), LARGE)
    assert list_uploads(server) == []


def test_a_copy_without_resume_sends_all_parts(server, source):
    """The upload of the killed copy remains."""
    kill_copy(server, source, "s3://public/u/t.npy")
    plait.copy(source, "s3://public/u/t.npy")
    assert take_sent_parts(server) == [1, 2, 3, 4, 5]
    assert len(list_uploads(server)) == 1


def test_lists_may_have_several_pages(server, source):
    for key in ("t.npy", "t.npy"):
        kill_copy(server, source, f"s3://public/u/{key}", after=4)
    server.set_faults(page=1)
    plait.copy(source, "s3://public/u/t.npy", resume=True)
    assert len(take_sent_parts(server)) <= 2
    np.testing.assert_array_equal(read_array(server, "u/t.npy"), LARGE)
    assert len(list_uploads(server)) == 1


def test_an_upload_of_another_content_is_not_touched(server, source, tmp_path):
    """It may be the upload of a running program."""
    kill_copy(server, source, "s3://public/u/t.npy")
    np.save(tmp_path / "y.npy", LARGE + 1)
    plait.copy(str(tmp_path / "y.npy"), "s3://public/u/t.npy", resume=True)
    assert take_sent_parts(server) == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(read_array(server, "u/t.npy"), LARGE + 1)
    assert len(list_uploads(server)) == 1


@pytest.mark.parametrize("row", [10, 800, 1400])
def test_an_upload_with_one_changed_part_is_not_touched(server, source, tmp_path, row):
    """An upload with a part of other bytes, whichever it is, is not touched."""
    kill_copy(server, source, "s3://public/u/t.npy", after=4)
    changed = LARGE.copy()
    changed[row] += 1  # in the first, the second and the third part
    np.save(tmp_path / "y.npy", changed)
    plait.copy(str(tmp_path / "y.npy"), "s3://public/u/t.npy", resume=True)
    assert take_sent_parts(server) == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(read_array(server, "u/t.npy"), changed)
    assert len(list_uploads(server)) == 1
    server.take_log()
    plait.copy(source, "s3://public/u/t.npy", resume=True)
    assert len(take_sent_parts(server)) <= 2
    assert list_uploads(server) == []


def test_a_lost_answer_to_the_completion_is_no_error(server, source):
    kill_copy(server, source, "s3://public/u/t.npy")
    server.set_faults(lose_answers=1)
    plait.copy(source, "s3://public/u/t.npy?conditions=off", resume=True)
    np.testing.assert_array_equal(read_array(server, "u/t.npy"), LARGE)


@pytest.mark.parametrize("conditions", ["on", "off"])
def test_an_object_that_another_program_completes_is_compared(server, source, conditions):
    """If the other program used other bytes, it is an error; if it used the same bytes, the copy has succeeded."""
    target = f"s3://public/u/t.npy?conditions={conditions}"
    server.send_unsigned("DELETE", "/public/u/t.npy")
    server.set_faults(foreign_completion="other")
    with pytest.raises(plait.Error, match="another program may have resumed the upload with other bytes"):
        plait.copy(source, target)
    assert not np.array_equal(read_array(server, "u/t.npy"), LARGE)
    server.send_unsigned("DELETE", "/public/u/t.npy")
    server.set_faults(foreign_completion="same")
    plait.copy(source, target)
    np.testing.assert_array_equal(read_array(server, "u/t.npy"), LARGE)


@launching.needs_mpi
def test_several_ranks_resume_an_upload(server, source):
    kill_copy(server, source, "s3://public/u/t.npy", after=3)
    command = [sys.executable, "-m", "plait.cli", "copy", source, "s3://public/u/t.npy", "--resume", "--ranks", "2"]
    subprocess.run(command, check=True, capture_output=True)
    assert len(take_sent_parts(server)) < PARTS - 1
    np.testing.assert_array_equal(read_array(server, "u/t.npy"), LARGE)


@launching.needs_mpi
def test_ranks_compare_their_parts(server, source, tmp_path):
    """An upload is not joined if only the second rank finds a part of other bytes."""
    kill_copy(server, source, "s3://public/u/t.npy", after=4)
    changed = LARGE.copy()
    changed[800] += 1  # in the second part
    np.save(tmp_path / "y.npy", changed)
    command = [sys.executable, "-m", "plait.cli", "copy", str(tmp_path / "y.npy"), "s3://public/u/t.npy", "--resume"]
    subprocess.run([*command, "--ranks", "2"], check=True, capture_output=True)
    assert take_sent_parts(server) == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(read_array(server, "u/t.npy"), changed)
    assert len(list_uploads(server)) == 1


@pytest.mark.parametrize("joined", [False, True])
def test_an_object_that_another_program_makes_is_not_replaced(server, source, joined):
    """The upload remains, and can be resumed.

    joined  whether the file continues the upload of a killed copy
    """
    if joined:
        kill_copy(server, source, "s3://public/u/t.npy")
    server.send_unsigned("DELETE", "/public/u/t.npy")
    file = plait.open("s3://public/u/t.npy", "w", shape=LARGE.shape, dtype=LARGE.dtype, unfinished="continue")
    file.write(LARGE)
    server.send_unsigned("PUT", "/public/u/t.npy", b"x")
    with pytest.raises(plait.Error, match="an object of that name has appeared"):
        file.close()
    assert len(list_uploads(server)) == 1
    assert server.send_unsigned("GET", "/public/u/t.npy") == b"x"
    server.take_log()
    plait.copy(source, "s3://public/u/t.npy", resume=True)
    assert take_sent_parts(server) == []
    assert list_uploads(server) == []


@pytest.mark.parametrize("status", [403, 405, 501])
def test_all_parts_are_sent_without_lists(server, source, status):
    """A server that does not permit or implement the lists gets all parts."""
    kill_copy(server, source, "s3://public/u/t.npy")
    server.set_faults(reject_lists=status)
    plait.copy(source, "s3://public/u/t.npy", resume=True)
    assert take_sent_parts(server) == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(read_array(server, "u/t.npy"), LARGE)


def test_a_failed_list_is_an_error_before_anything_is_sent(server):
    """Nothing is written if the server does not list the uploads."""
    server.set_faults(reject_lists=400)
    with pytest.raises(plait.Error, match=r"cannot list the unfinished uploads of s3://public/u/t\.npy"):
        plait.open("s3://public/u/t.npy", "w", shape=LARGE.shape, dtype="i8", unfinished="continue")


@pytest.mark.parametrize("marker", ["empty", "same"])
def test_pages_without_a_next_marker_are_errors(server, source, marker):
    """A page that does not state where the next one begins is an error."""
    kill_copy(server, source, "s3://public/u/t.npy")
    server.set_faults(marker=marker)
    with pytest.raises(plait.Error, match="does not state where the next one begins"):
        plait.copy(source, "s3://public/u/t.npy", resume=True)
    result = CliRunner().invoke(main, ["clean", "s3://public/u"])
    assert "does not state where the next one begins" in result.output


def test_an_upload_that_cannot_be_resumed_is_aborted(server, source):
    """It cannot be resumed if the ETags of its parts are no MD5s, which could be compared."""
    server.set_faults(opaque_tags=True, error_in_200=3)
    with pytest.raises(plait.Error, match="cannot write"):
        plait.copy(source, "s3://public/u/t.npy?conditions=off", resume=True)
    assert list_uploads(server) == []


def test_a_failed_completion_can_be_resumed(server, source):
    server.set_faults(error_in_200=3)
    with pytest.raises(plait.Error, match="cannot write"):
        plait.copy(source, "s3://public/u/t.npy?conditions=off", resume=True)
    assert len(list_uploads(server)) == 1
    server.take_log()
    plait.copy(source, "s3://public/u/t.npy?conditions=off", resume=True)
    assert take_sent_parts(server) == []
    np.testing.assert_array_equal(read_array(server, "u/t.npy"), LARGE)


def test_a_terminated_copy_aborts_its_upload(server, source):
    """A copy that is asked to end removes its upload, also if it ends in the middle of a call."""
    status, message = kill_copy(server, source, "s3://public/u/t.npy", kill=signal.SIGTERM)
    assert (status, message.startswith("Error: the copy was stopped")) == (1, True)
    assert list_uploads(server) == []


def test_a_terminated_copy_with_resume_leaves_its_upload(server, source):
    status, message = kill_copy(server, source, "s3://public/u/t.npy", "--resume", kill=signal.SIGTERM)
    assert status == 1
    assert "--resume" in message
    assert len(list_uploads(server)) == 1
    plait.copy(source, "s3://public/u/t.npy", resume=True)
    assert len(take_sent_parts(server)) < PARTS - 1


def test_open_resumes_uploads(server):
    options = {"shape": LARGE.shape, "dtype": LARGE.dtype}

    def fail():
        with plait.open("s3://public/u/t.npy?conditions=off", "w", unfinished="keep", **options) as file:
            file.write(LARGE)
            server.set_faults(error_in_200=3)

    with pytest.raises(plait.Error, match="cannot write"):
        fail()
    server.set_faults()
    server.take_log()
    with plait.open("s3://public/u/t.npy", "w", unfinished="continue", **options) as file:
        file.write(LARGE)
    assert take_sent_parts(server) == []
    np.testing.assert_array_equal(read_array(server, "u/t.npy"), LARGE)


def test_clean_aborts_old_uploads(server, source):
    for name in ("u/a.npy", "u/a.npy.npy", "u/b/c d.npy"):
        kill_copy(server, source, f"s3://public/{name}")
    assert run_clean("s3://public/u") == "0 unfinished uploads aborted; 3 younger ones are left\n"
    report = json.loads(run_clean("s3://public/u", "--older", "0", "--dry-run", "--json"))
    assert sorted(upload["key"] for upload in report["old"]) == ["u/a.npy", "u/a.npy.npy", "u/b/c d.npy"]
    assert (report["aborted"], report["young"]) == (False, [])
    assert len(list_uploads(server)) == 3
    lines = run_clean("s3://public/u/a.npy", "--older", "0").splitlines()
    assert lines[0].startswith("u/a.npy  begun 20")
    assert lines[1] == "1 unfinished upload aborted"
    assert "u/b/c d.npy" in run_clean("s3://public/u/b", "--older", "0")
    assert len(list_uploads(server)) == 1
    server.set_faults(page=1)
    time.sleep(1.1)
    assert "1 unfinished upload aborted" in run_clean("s3://public/u", "--older", "1s")
    assert list_uploads(server) == []


@pytest.mark.parametrize("exact_prefix", [False, True])
def test_clean_accepts_all_forms_of_names(server, source, exact_prefix):
    """A slash at the end and the name of an array do not matter; a bucket needs --all."""
    for name in ("u/a.npy", "u/b.h5::x"):
        kill_copy(server, source, f"s3://public/{name}")
    server.set_faults(exact_prefix=exact_prefix)
    assert run_clean("s3://public/u/", "--older", "0", "--dry-run").endswith(
        "2 unfinished uploads found, none aborted\n"
    )
    assert "u/b.h5" in run_clean("s3://public/u/b.h5::x", "--older", "0")
    assert len(list_uploads(server)) == 1
    for url in ("s3://public", "s3://public/"):
        result = CliRunner().invoke(main, ["clean", url, "--older", "0"])
        assert result.exit_code == 2
        assert "add --all" in result.stderr
        assert len(list_uploads(server)) == 1
        assert run_clean(url, "--all", "--older", "0", "--dry-run").endswith(
            "1 unfinished upload found, none aborted\n"
        )
    run_clean("s3://public/", "--all", "--older", "0")
    assert list_uploads(server) == []


def test_the_age_of_an_upload_is_that_of_its_newest_part(server, source):
    kill_copy(server, source, "s3://public/u/a.npy")
    server.set_faults(begun="2020-01-01T00:00:00.000Z")
    assert run_clean("s3://public/u") == "0 unfinished uploads aborted; 1 younger ones are left\n"
    server.set_faults(begun="2020-01-01T00:00:00.000Z", old_parts=True)
    assert "1 unfinished upload aborted" in run_clean("s3://public/u")
    assert list_uploads(server) == []


def test_clean_reports_each_error(server, source):
    """If one upload cannot be aborted, the others are aborted nevertheless."""
    for name in ("a.npy", "b.npy"):
        kill_copy(server, source, f"s3://public/u/{name}")
    server.set_faults(fail_aborts=1)
    result = CliRunner().invoke(main, ["clean", "s3://public/u", "--older", "0", "--json"])
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert (len(report["old"]), len(report["errors"])) == (1, 1)
    assert "cannot abort an upload of s3://public/u/" in result.stderr
    assert len(list_uploads(server)) == 1
    server.set_faults(begun="yesterday")
    result = CliRunner().invoke(main, ["clean", "s3://public/u"])
    assert result.exit_code == 1
    assert "the server states the time 'yesterday'; expected one such as" in result.stderr
    assert len(list_uploads(server)) == 1


def test_clean_of_other_stores_is_an_error(tmp_path):
    for url in ("az://container/x", "memory://a/x", "https://host/x"):
        result = CliRunner().invoke(main, ["clean", url])
        assert result.exit_code == 2
        assert "does not list unfinished uploads; expected a URL of s3:// or gs://" in result.stderr
    for name in ("./file", str(tmp_path)):
        result = CliRunner().invoke(main, ["clean", name])
        assert result.exit_code == 2
        assert f"{name}: the name is no URL; expected a URL of s3:// or gs://" in result.stderr
    result = CliRunner().invoke(main, ["clean", "s3://a/x", "--older", "7"])
    assert "'7' is not an age such as 90s" in result.stderr


def test_clean_without_permission_is_an_error(server, monkeypatch):
    secret = "Xq7-secret-of-this-test"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    result = CliRunner().invoke(main, ["clean", "s3://bucket/x"])
    assert result.exit_code == 2
    assert "cannot list the unfinished uploads of s3://bucket/x" in result.stderr
    assert secret not in result.stderr
