"""Zarr in s3://, on a server that checks signatures and can fail in many ways."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import plait
from plait import _core

ARRAY = np.arange(600, dtype="i4").reshape(20, 30)


@pytest.fixture
def bucket(request):
    return f"s3://bucket-{abs(hash(request.node.name)) % 10**9}/run"


def write(url, array=ARRAY, **options):
    with plait.open(url, "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)


def list_objects(url):
    return sorted(_core.open_objects(url).names())


@pytest.mark.parametrize("options", [{}, {"codec": "zstd"}, {"shards": (10, 15), "codec": "gzip"}])
def test_arrays_are_written_read_and_changed(server, bucket, options):
    url = f"{bucket}/a.zarr"
    write(url, chunks=(5, 5), attributes={"units": "K"}, **options)
    np.testing.assert_array_equal(plait.open(url).read(), ARRAY)
    with plait.open(url, "r+") as file:
        file.write(ARRAY[3:8] * 2, region=np.s_[3:8])
        file.attrs["units"] = "m"
    expected = ARRAY.copy()
    expected[3:8] *= 2
    with plait.open(url) as file:
        np.testing.assert_array_equal(file.read(), expected)
        assert dict(file.attrs) == {"units": "m"}
    with plait.open(url, "a") as file:
        file.append(ARRAY, axis=0)
    np.testing.assert_array_equal(plait.open(url).read(), np.concatenate([expected, ARRAY]))
    assert not [name for name in list_objects(bucket) if "probe" in name]
    write(url, ARRAY[:2])
    np.testing.assert_array_equal(plait.open(url).read(), ARRAY[:2])


def test_metadata_appear_last(server, bucket):
    url = f"{bucket}/data.zarr"
    write(f"{url}::/g/a", chunks=(5, 30))
    puts = [request["path"].split("run/")[1] for request in server.take_log() if request["method"] == "PUT"]
    puts = [name for name in puts if "probe" not in name]
    assert sorted(puts[:4]) == [f"data.zarr/g/a/c/{i}/0" for i in range(4)]
    assert puts[4:] == ["data.zarr/g/a/zarr.json", "data.zarr/g/zarr.json", "data.zarr/zarr.json"]


def test_hierarchies_are_copied_and_arrays_joined(server, bucket, tmp_path):
    np.savez(tmp_path / "a.npz", x=ARRAY, y=ARRAY[0])
    plait.copy(tmp_path / "a.npz", f"{bucket}/a.zarr", chunks=(5, 5), codec="gzip")
    assert [array.name for array in plait.arrays_in(f"{bucket}/a.zarr")] == ["x", "y"]
    plait.copy(f"{bucket}/a.zarr::x", tmp_path / "x.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), ARRAY)
    parts = []
    for number in range(2):
        write(f"{bucket}/{number}.zarr", ARRAY + number, dimension_names=["time", "x"])
        parts.append(f"{bucket}/{number}.zarr")
    with plait.concat(parts, "time") as joined:
        np.testing.assert_array_equal(joined.read(), np.concatenate([ARRAY, ARRAY + 1]))


def test_xarray_reads_arrays(server, bucket):
    xarray = pytest.importorskip("xarray")
    write(f"{bucket}/d.zarr::/t", dimension_names=["y", "x"], attributes={"units": "K"})
    data = xarray.open_dataset(f"{bucket}/d.zarr", engine="plait")
    np.testing.assert_array_equal(data["t"].values, ARRAY)
    assert data["t"].attrs["units"] == "K"


@pytest.mark.parametrize(
    "key", ["a b.zarr", "a=1/b+c.zarr", "ä/é.zarr", "a&b;c,d.zarr", "a'b(c)!*.zarr", "%41.zarr", "a~b:c@d$e.zarr"]
)
@pytest.mark.parametrize("plain", [False, True])
def test_keys_are_encoded(server, bucket, key, plain):
    server.set_faults(plain_keys=plain)
    write(f"{bucket}/{key}", chunks=(10, 10))
    np.testing.assert_array_equal(plait.open(f"{bucket}/{key}").read(), ARRAY)
    assert f"{key}/c/0/0" in list_objects(bucket)
    write(f"{bucket}/{key}", ARRAY * 2)  # lists and removes what is there
    np.testing.assert_array_equal(plait.open(f"{bucket}/{key}").read(), ARRAY * 2)


def test_lists_may_have_several_pages(server, bucket):
    write(f"{bucket}/a.zarr", chunks=(1, 30))
    names = list_objects(f"{bucket}/a.zarr")
    server.set_faults(page=3)
    assert list_objects(f"{bucket}/a.zarr") == names
    assert len(names) == 21


@pytest.mark.parametrize(
    "faults",
    [
        {"slow_down": 3},
        {"fail": 2},
        {"reset": 2},
        {"truncate": 3},
        {"lose_answers": 2},
        {"skew": 3000},
        {"skew": -3000},
        {"region": "other-region-1"},
    ],
    ids=str,
)
def test_transient_faults_are_retried(server, bucket, faults):
    write(f"{bucket}/a.zarr", chunks=(5, 30), attributes={"a": 1})
    server.set_faults(**faults)
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), ARRAY)
    server.set_faults(**faults)
    write(f"{bucket}/b.zarr", ARRAY * 3, chunks=(5, 30))
    with plait.open(f"{bucket}/b.zarr", "r+") as file:
        server.set_faults(**faults)
        file.write(ARRAY[:3], region=np.s_[:3])
    server.set_faults()
    expected = ARRAY * 3
    expected[:3] = ARRAY[:3]
    np.testing.assert_array_equal(plait.open(f"{bucket}/b.zarr").read(), expected)


@pytest.mark.parametrize("faults", [{"skew": 3000}, {"region": "other-region-2"}], ids=str)
def test_requests_in_flight_are_corrected(server, bucket, faults):
    write(f"{bucket}/a.zarr", np.zeros((64, 400), "i4"), chunks=(1, 400))
    with plait.open(f"{bucket}/a.zarr") as file:
        server.set_faults(delay=0.1, **faults)  # all requests leave before the first answer
        np.testing.assert_array_equal(file.read(), 0)


def test_conflicts_of_puts_are_retried(server, bucket):
    write(f"{bucket}/a.zarr")
    server.set_faults(conflict=2)
    with plait.open(f"{bucket}/a.zarr", "r+") as file:
        file.write(ARRAY[:3] * 2, region=np.s_[:3])
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read()[:3], ARRAY[:3] * 2)


def test_a_failed_check_of_a_put_is_an_error(server, bucket):
    url = f"{bucket}/a.zarr"
    first = plait.open(url, "w", shape=ARRAY.shape, dtype="i4")
    second = plait.open(url, "w", shape=ARRAY.shape, dtype="i4")
    first.write(ARRAY)
    second.write(ARRAY)
    first.close()
    server.set_faults(fail_heads=1)
    with pytest.raises(PermissionError, match=r"zarr\.json"):
        second.close()


def test_metadata_that_are_too_long_are_an_error(server, bucket):
    write(f"{bucket}/a.zarr")
    server.set_faults(content_length=10**12)
    with pytest.raises(plait.Error, match="more than 33554432 bytes"):
        plait.open(f"{bucket}/a.zarr")


def test_shards_that_change_all_the_time_are_an_error(server, bucket):
    write(f"{bucket}/a.zarr", chunks=(5, 5), shards=(20, 30))
    with plait.open(f"{bucket}/a.zarr") as file:
        server.set_faults(new_tags=True)
        with pytest.raises(plait.StoreError, match=r"the shard .*/c/0/0: it has changed 100 times"):
            file.read()


def test_weak_etags_cannot_be_conditions(server, bucket):
    write(f"{bucket}/a.zarr")
    server.set_faults(weak_etag=True)
    with pytest.raises(plait.Error, match="no identity that it compares"), plait.open(f"{bucket}/a.zarr", "r+") as file:
        file.write(ARRAY[:3] * 2, region=np.s_[:3])
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), ARRAY)


def test_arrays_are_written_without_the_permission_to_remove(server, bucket):
    server.set_faults(fail_deletes=True)
    write(f"{bucket}/a.zarr")
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), ARRAY)


APPEND = """
import sys, numpy, plait
file = plait.open(sys.argv[1], "a")
file.append(numpy.full((5, 30), 1, "i4"), axis=0)
print("open", flush=True)
sys.stdin.readline()
file.close()
"""


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_second_program_that_appends_gets_an_error(server, bucket, is_killed):
    url = f"{bucket}/a.zarr"
    write(url, chunks=(5, 30))
    other = subprocess.Popen(
        [sys.executable, "-c", APPEND, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "open\n"
    with pytest.raises(plait.StoreError, match=r"another program has opened it to append.*\.plait-lock"):
        plait.open(url, "a")
    if is_killed:
        other.kill()
    other.communicate("\n")
    if is_killed:
        with pytest.raises(plait.StoreError, match="remove that object if the program was killed"):
            plait.open(url, "a")
        _core.open_objects(url).remove(".plait-lock")
    with plait.open(url, "a") as file:
        file.append(ARRAY, axis=0)
    before = [ARRAY] if is_killed else [ARRAY, np.full((5, 30), 1, "i4")]
    np.testing.assert_array_equal(plait.open(url).read(), np.concatenate([*before, ARRAY]))
    assert ".plait-lock" not in list_objects(url)


@pytest.mark.parametrize("fault", ["slow_down", "fail", "reset", "truncate"])
def test_permanent_faults_are_errors(server, bucket, fault, monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
    write(f"{bucket}/a.zarr")
    server.take_log()
    server.set_faults(**{fault: 1000})
    with pytest.raises(plait.Error) as error:
        plait.open(f"{bucket}/a.zarr").read()
    text = str(error.value)
    assert "a.zarr" in text
    assert "after 3 attempts" in text
    assert {"slow_down": "status 503", "fail": "status 500"}.get(fault, "") in text
    with pytest.raises(plait.Error):
        write(f"{bucket}/new.zarr")
    server.set_faults()
    assert not [name for name in list_objects(bucket) if name.startswith("new.zarr/zarr.json")]


def test_errors_after_the_status_200_are_detected(server, bucket):
    server.set_faults(error_in_200=100)
    with pytest.raises(plait.Error, match=r"status 200 \(InternalError"):
        write(f"{bucket}/a.zarr")
    server.set_faults()
    with pytest.raises(FileNotFoundError):
        plait.open(f"{bucket}/a.zarr")


def test_an_answer_that_stops_in_the_middle_is_requested_again(server, bucket, monkeypatch):
    monkeypatch.setenv("PLAIT_HTTP_TIMEOUT", "1")
    write(f"{bucket}/a.zarr")
    server.set_faults(stall=1)
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), ARRAY)


@pytest.mark.parametrize(("fault", "header"), [("ignore_create", "If-None-Match: \\*"), ("ignore_match", "If-Match")])
def test_servers_that_ignore_conditions_are_errors(server, bucket, fault, header):
    server.set_faults(**{fault: True})
    with pytest.raises(plait.Error, match=f"the server ignores the condition {header}.*conditions=off"):
        write(f"{bucket}/a.zarr")
    assert list_objects(bucket) == []
    url = f"{bucket}/a.zarr?conditions=off"
    write(url, chunks=(5, 5))
    with plait.open(url, "r+") as file:
        file.write(ARRAY[3:8] * 2, region=np.s_[3:8])
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read()[3:8], ARRAY[3:8] * 2)


def test_of_two_programs_that_make_an_array_one_fails(server, bucket):
    url = f"{bucket}/a.zarr"
    first = plait.open(url, "w", shape=ARRAY.shape, dtype="i4")
    second = plait.open(url, "w", shape=ARRAY.shape, dtype="i4")
    first.write(ARRAY)
    second.write(ARRAY)
    first.close()
    with pytest.raises(FileExistsError, match="another program has put"):
        second.close()
    np.testing.assert_array_equal(plait.open(url).read(), ARRAY)


def test_concurrent_changes_are_not_lost(server, bucket):
    url = f"{bucket}/a.zarr"
    write(url, np.zeros(8, "i4"), chunks=8)
    reasons = []

    def change(number):
        while True:
            try:
                with plait.open(url, "r+") as file:
                    file.write(np.array([number + 1], "i4"), region=np.s_[number : number + 1])
            except plait.Error as error:
                reasons.append(str(error))
            else:
                return

    run_together(change)
    assert all("another program has changed it" in reason for reason in reasons)
    np.testing.assert_array_equal(plait.open(url).read(), [1, 2, 3, 4, 0, 0, 0, 0])


def run_together(change):
    """Call a function with 0 to 3 in four threads."""
    threads = [threading.Thread(target=change, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_concurrent_changes_of_attributes_are_not_lost(server, bucket):
    url = f"{bucket}/a.zarr"
    write(url)

    def change(number):
        for i in range(5):
            with plait.open(url, "r+") as file:
                file.attrs[f"a{number}_{i}"] = i

    run_together(change)
    assert len(plait.open(url).attrs) == 20


@pytest.mark.parametrize("codec", [{}, {"codec": "zstd"}])
def test_chunks_larger_than_the_memory_are_put_once(server, bucket, codec):
    array = np.arange(1500 * 1024, dtype="i4").reshape(1500, 1024)
    url = f"{bucket}/a.zarr"
    server.take_log()
    write(url, array, chunks=(512, 1024), memory=1 << 20, **codec)
    chunks = [
        (request["method"], request["path"].split("/c/")[1])
        for request in server.take_log()
        if "/c/" in request["path"]
    ]
    assert sorted(chunk for chunk in chunks if chunk[0] == "PUT") == [("PUT", f"{i}/0") for i in range(3)]
    assert len(chunks) <= 6
    with plait.open(url, "r+", memory=1 << 20) as file:
        file.write(array[100:1400] * 2, region=np.s_[100:1400])
    puts = [request["path"] for request in server.take_log() if request["method"] == "PUT" and "/c/" in request["path"]]
    assert len(puts) == 3
    array[100:1400] *= 2
    np.testing.assert_array_equal(plait.open(url).read(), array)


def test_many_chunks_are_read_at_once(server, bucket):
    write(f"{bucket}/a.zarr", np.zeros((64, 4000), "i4"), chunks=(1, 4000))
    server.set_faults(delay=0.05)
    with plait.open(f"{bucket}/a.zarr") as file:
        server.take_log()
        file.read()
    log = server.take_log()
    assert len([request for request in log if "/c/" in request["path"]]) == 64
    assert len({request["peer"] for request in log}) > 8, "the requests use many connections"


def test_a_child_of_fork_has_connections_of_its_own(server, bucket):
    from forking import run_in_child

    write(f"{bucket}/a.zarr")

    def child():
        np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), ARRAY)

    run_in_child(child)
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), ARRAY)


def test_keys_do_not_appear_in_errors(server, bucket, monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-secret-word")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "temporary-token-word")
    with pytest.raises(PermissionError) as error:
        plait.open(f"{bucket}/a.zarr")
    text = str(error.value)
    assert "403" in text
    assert "check the keys and their permissions" in text
    for secret in ("wrong-secret-word", "temporary-token-word", os.environ["AWS_ACCESS_KEY_ID"]):
        assert secret not in text


def test_servers_that_do_not_answer_are_an_error(server, bucket, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    with pytest.raises(ConnectionRefusedError, match=r"127\.0\.0\.1:1 failed after 2 attempts"):
        plait.open(f"{bucket}/a.zarr")


def test_requesters_may_pay(server, bucket, monkeypatch):
    with plait.open(f"{bucket}/pays.npy?requester_pays=true", "w", shape=ARRAY.shape, dtype=ARRAY.dtype) as file:
        file.write(ARRAY)
    server.take_log()
    np.testing.assert_array_equal(plait.open(f"{bucket}/pays.npy?requester_pays=true").read(), ARRAY)
    assert {request["headers"].get("x-amz-request-payer") for request in server.take_log()} == {"requester"}
    monkeypatch.setenv("AWS_REQUEST_PAYER", "requester")
    np.testing.assert_array_equal(plait.open(f"{bucket}/pays.npy").read(), ARRAY)
    assert {request["headers"].get("x-amz-request-payer") for request in server.take_log()} == {"requester"}
