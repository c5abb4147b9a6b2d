"""Copies with verify=True, which read the written data and compare it with the source."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

import plait

pytestmark = pytest.mark.usefixtures("nothing_left")

TARGETS = ["b.npy", "b.bin", "b.zarr", "b.npz", "b.safetensors", "stripe:b.s?disks=x,y&unit=100", "distant:b?folder=."]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for disk in "xy":
        os.mkdir(disk)


@pytest.mark.parametrize("target", [*TARGETS, "b.h5::/a"])
@pytest.mark.parametrize("memory", ["2K", "1M"])
def test_equal_copies_are_verified(target, memory):
    array = np.random.default_rng(1).random((40, 30))
    array[3, 4] = np.nan
    array[5, 6] = -0.0
    np.save("a.npy", array)
    if target.endswith("::/a"):
        pytest.importorskip("h5py")
    plait.copy("a.npy", target, memory=memory, verify=True)


# Copies an array with a writer that changes the element at one index.
COPY_WITH_CHANGE = """
import sys
import numpy as np
import plait
from plait._copying.targets import FileTarget

write = FileTarget.write
index = eval(sys.argv[2])


def change_and_write(self, array, layout, parts, region):
    for rank, part in enumerate(parts):
        for local in np.ndindex(*part.shape):
            position = layout.to_global(local, rank)
            if tuple(i + range_.start for i, range_ in zip(position, region)) == index:
                part[local] = part[local] + 1
    write(self, array, layout, parts, region)


FileTarget.write = change_and_write
try:
    plait.copy("a.npy", sys.argv[1], memory="2K", verify=True, resume=sys.argv[3] == "resume")
except plait.StoreError as error:
    print(error.errno, error)
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("target", "index", "resume"),
    [
        *((target, (17, 5), "anew") for target in TARGETS),
        *((target, (0, 0), "resume") for target in TARGETS[:-1]),
        ("b.npy", (39, 29), "anew"),
    ],
)
def test_a_difference_is_an_error_and_leaves_no_target(target, index, resume):
    np.save("a.npy", np.arange(1200.0).reshape(40, 30))
    command = [sys.executable, "-c", COPY_WITH_CHANGE, target, repr(index), resume]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    value = 30.0 * index[0] + index[1]
    assert result.stdout.startswith(f"{errno.EIO} ")
    assert f"the array data differs at index {index} after the copy" in result.stdout
    assert f"the source has {value}, and the target {value + 1}" in result.stdout
    assert sorted(os.listdir()) == ["a.npy", "x", "y"]
    assert os.listdir("x") == os.listdir("y") == []


def test_a_difference_leaves_the_old_target():
    np.save("a.npy", np.arange(1200.0).reshape(40, 30))
    np.save("b.npy", np.zeros(3))
    command = [sys.executable, "-c", COPY_WITH_CHANGE, "b.npy", "(1, 1)", "anew"]
    subprocess.run(command, capture_output=True, text=True, check=True)
    np.testing.assert_array_equal(np.load("b.npy"), np.zeros(3))


def test_streams_are_not_verified():
    np.save("a.npy", np.zeros(3))
    with open("a.npy", "rb") as stream, pytest.raises(plait.ArgumentError, match="verify needs a source and a target"):
        plait.copy(stream, "b.npy", verify=True)
