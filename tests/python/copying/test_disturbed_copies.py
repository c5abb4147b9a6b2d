"""Copies to a disk that becomes full, two copies to one target, and copies that are stopped in a long access."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

import plait

# Programs that a shell starts in the background inherit ignored SIGINTs.
COPY = ["env", "--default-signal=INT", sys.executable, "-m", "plait.cli", "copy"]


@contextmanager
def small_disk(folder, size):
    """Mount a file system of `size` bytes in memory at a new folder; skip the test if that is not permitted."""
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount, "-t", "tmpfs", "-o", f"size={size}", "plait-test", folder]
    if not mount or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def run_copy(*arguments):
    return subprocess.run([*COPY, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("target", ["b.zarr", "b.npy"])
def test_a_copy_to_a_full_disk_fails_and_can_be_resumed(tmp_path, target):
    array = np.random.default_rng(1).integers(0, 1 << 40, 1 << 19)  # 4 MiB of incompressible data
    np.save(tmp_path / "a.npy", array)
    disk = tmp_path / "disk"
    chunks = ["--chunks", "16384", "--codec", "zstd:1"] if target == "b.zarr" else []
    options = [tmp_path / "a.npy", disk / target, *chunks, "--memory", "256K"]
    with small_disk(disk, "3m"):
        result = run_copy(*options)
        assert result.returncode == 2
        assert result.stderr.startswith("Error: ")
        assert "No space left on device" in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert os.listdir(disk) == []
        result = run_copy(*options, "--resume")
        assert "No space left on device" in result.stderr
        remaining = os.listdir(disk)
        assert bool(remaining) == (target == "b.zarr")  # a .npy file reserves its space before anything is copied
        if remaining:
            subprocess.run(["mount", "-o", "remount,size=9m", disk], check=True)
            result = run_copy(*options, "--resume", "--verify")
            assert result.returncode == 0, result.stderr
            assert "of it were there, verified" in result.stdout
            assert os.listdir(disk) == [target]
            np.testing.assert_array_equal(plait.open(disk / target).read(), array)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("target", ["b.zarr", "b.npy"])
@pytest.mark.parametrize("resume", [True, False])
def test_of_two_copies_to_one_target_one_succeeds_at_least(tmp_path, target, resume):
    arrays = [np.full((1 << 9, 1 << 10), number) for number in range(2)]
    for number, array in enumerate(arrays):
        np.save(tmp_path / f"a{number}.npy", array)
    resume_option = ["--resume"] if resume else []
    copies = [
        subprocess.Popen(
            [*COPY, f"a{number}.npy", target, "--memory", "8K", *resume_option],
            cwd=tmp_path, stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL,
        )
        for number in range(2)
    ]  # fmt: skip
    errors = [copy.communicate()[1] for copy in copies]
    codes = [copy.returncode for copy in copies]
    assert 0 in codes
    for code, text in zip(codes, errors, strict=True):
        assert len(text.splitlines()) == (1 if code else 0)
        if code:
            reasons = (
                "another copy to the same target",
                "another program is writing it",
                "has appeared",
                "of a copy that",
            )
            assert any(reason in text for reason in reasons), text
    actual = plait.open(tmp_path / target).read()
    assert any(np.array_equal(actual, array) for array in arrays)
    remaining = [name for name in os.listdir(tmp_path) if not name.startswith(("a", target))]
    assert remaining == []


@pytest.mark.long
@pytest.mark.parametrize("resume", [True, False])
def test_a_copy_in_a_long_access_stops_within_seconds(tmp_path, resume):
    np.save(tmp_path / "a.npy", np.random.default_rng(1).integers(0, 1000, (4096, 8192)).astype("i4"))
    resume_option = ["--resume"] if resume else []
    options = ["--chunks", "1024,1024", "--codec", "zstd:19", "--memory", "1G", *resume_option]
    command = [*COPY, "a.npy", "b.zarr", *options]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as copying:
        deadline = time.monotonic() + 300
        while len(os.listdir(tmp_path)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(1)  # until the copy compresses, which takes long at the level 19
        copying.send_signal(signal.SIGINT)
        begin = time.monotonic()
        output, errors = copying.communicate(timeout=300)
    assert time.monotonic() - begin < 20  # about 1 s on an idle machine
    assert (copying.returncode, output) == (1, "")
    assert errors.startswith("Error: the copy was stopped; ")
    assert len(errors.splitlines()) == 1
    remaining = sorted(os.listdir(tmp_path))
    assert remaining == ([".b.zarr.plait-copy", ".b.zarr.plait-unfinished", "a.npy"] if resume else ["a.npy"])
