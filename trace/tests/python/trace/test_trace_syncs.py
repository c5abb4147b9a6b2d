"""The syncs that files cause, with and without durable=."""

import os
import subprocess
import sys

import numpy as np
import pytest
from launching import WELCOME

import plait
from plait import trace

PROGRAM = """
import sys
import numpy as np
import plait

name, durable = sys.argv[1], {"None": None, "True": True, "False": False}[sys.argv[2]]
mine = np.arange(600.0).reshape(20, 30)
for mode in ("w", "r+"):
    shape = {"shape": mine.shape, "dtype": "f8"} if mode == "w" or name.startswith("stripe:") else {}
    with plait.open(name, mode, durable=durable, **shape) as file:
        file.write(mine[:10], region=np.s_[:10])
"""

NAMES = ["a.npy", "a.h5::v", "a.safetensors::v", "a.zarr", "stripe:a?disks=d1,d2&unit=4K"]


def count_syncs(folder, name, durable, setting=None, program=PROGRAM):
    """Write a new file, change it, and return the number of syncs."""
    (folder / "t.plait").unlink(missing_ok=True)
    environment = {**os.environ, **WELCOME, "PLAIT_TRACE": "t.plait"}
    environment.pop("PLAIT_DURABLE", None)
    if setting is not None:
        environment["PLAIT_DURABLE"] = setting
    command = [sys.executable, "-c", program, name, str(durable)]
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=300)
    with trace.open(folder / "t.plait") as recorded:
        events = recorded.read()
    return int((events["kind"] == trace.Kind.SYNC).sum())


@pytest.mark.parametrize("name", NAMES)
def test_files_that_are_not_durable_are_not_synced(tmp_path, name):
    for folder in ("d1", "d2"):
        (tmp_path / folder).mkdir()
    assert count_syncs(tmp_path, name, True) > 0
    assert count_syncs(tmp_path, name, False) == 0


COPY = """
import sys
import plait

plait.copy("a.npy", sys.argv[1], durable=False)
"""


@pytest.mark.parametrize("name", ["b.npy", "b.zarr", "b.h5"])
def test_copies_that_are_not_durable_are_not_synced(tmp_path, name):
    np.save(tmp_path / "a.npy", np.arange(600.0).reshape(20, 30))
    assert count_syncs(tmp_path, name, False, program=COPY) == 0
    with pytest.raises(plait.ArgumentError, match="resume"):
        plait.copy(tmp_path / "a.npy", tmp_path / "c.npy", durable=False, resume=True)


def test_the_setting_applies_without_the_argument(tmp_path):
    assert count_syncs(tmp_path, "a.npy", None) > 0
    assert count_syncs(tmp_path, "a.npy", None, "0") == 0
    assert count_syncs(tmp_path, "a.npy", True, "0") > 0


def test_wrong_values_are_errors(tmp_path, monkeypatch):
    with pytest.raises(plait.ArgumentError, match="durable"):
        plait.open(tmp_path / "a.npy", "w", shape=(2,), dtype="f8", durable="no")
    monkeypatch.setenv("PLAIT_DURABLE", "yes")
    with pytest.raises(plait.ArgumentError, match="PLAIT_DURABLE=yes is neither 0 nor 1"):
        plait.open(tmp_path / "a.npy", "w", shape=(2,), dtype="f8")
    assert not (tmp_path / "a.npy").exists()
