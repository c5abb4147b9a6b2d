"""`plait model calibrate`: constants from measured times, the file of a host, and plans that follow it."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from launching import run

import plait
from plait.model.calibration import (
    NAMES,
    AccessSample,
    CalibrationSettings,
    builtin,
    calibrate,
    fit_constants,
    in_force,
    measure_unrest,
    own_path,
    save,
)
from plait.model.calibration.constants import LONG, RUNS, SHORT, SHORT_WRITES, SMALL_WINDOWS, WINDOWS
from plait.model.calibration.files import format_constants

CONSTANTS = {
    "request_seconds": 2e-6,
    "write_request_seconds": 3e-5,
    "store_bytes_per_second": 1e9,
    "window_bytes_per_second": 5e9,
    "copy_bytes_per_second": 4e9,
    "run_seconds": 3e-9,
    "wait_seconds": 7e-6,
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    """Ignore the file of this host and the one that PLAIT_MODEL names."""
    monkeypatch.delenv("PLAIT_MODEL", raising=False)
    monkeypatch.delenv("PLAIT_STRATEGY", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def make_sample(constants):
    """Return measured accesses of every kind that take exactly as long as the model with these constants predicts."""
    size = 1 << 24
    window_seconds = size / constants["window_bytes_per_second"]
    copy_seconds = size / constants["copy_bytes_per_second"]

    def direct(kind, requests, seconds_per_request):
        total = requests * seconds_per_request + size / constants["store_bytes_per_second"]
        return AccessSample(kind, 2, size, requests, total=total)

    def windows(kind, runs, count):
        copy = copy_seconds + runs * constants["run_seconds"]
        total = window_seconds + copy + (count + 1) * constants["wait_seconds"]
        return AccessSample(kind, 2, size, runs=runs, count=count, total=total, io=window_seconds, copy=copy)

    return [
        direct(LONG, 0, 0.0),
        direct(SHORT, 10**5, constants["request_seconds"]),
        direct(SHORT_WRITES, 10**4, constants["write_request_seconds"]),
        windows(WINDOWS, 0, 16),
        *(windows(RUNS, runs, 16) for runs in (1 << 15, 1 << 18, 1 << 21)),
        windows(SMALL_WINDOWS, 0, 2048),
    ]


def test_constants_follow_from_the_times():
    assert fit_constants(make_sample(CONSTANTS)) == pytest.approx(CONSTANTS)
    assert tuple(CONSTANTS) == NAMES == tuple(sorted(builtin().values, key=NAMES.index))


def test_slow_rounds_change_nothing_but_are_reported():
    slow = [
        replace(sample, total=sample.total * 9, io=sample.io * 9, copy=sample.copy * 9)
        for sample in make_sample(CONSTANTS)
    ]
    assert fit_constants([*slow, *make_sample(CONSTANTS), *slow]) == pytest.approx(CONSTANTS)
    assert measure_unrest([*slow, *make_sample(CONSTANTS), *slow]) == pytest.approx(9)
    assert measure_unrest(make_sample(CONSTANTS)) == 1


def test_sharing_lowers_rates_but_not_constant_costs():
    def shared(sample):
        waits = (sample.count + 1) * CONSTANTS["wait_seconds"]
        return replace(sample, total=3 * (sample.total - waits) + waits) if sample.kind == WINDOWS else sample

    constants = fit_constants([shared(sample) for sample in make_sample(CONSTANTS)])
    for name in ("window_bytes_per_second", "copy_bytes_per_second"):
        assert constants[name] == pytest.approx(CONSTANTS[name] / 3)
    assert constants["run_seconds"] == pytest.approx(3 * CONSTANTS["run_seconds"])
    assert constants["wait_seconds"] == pytest.approx(CONSTANTS["wait_seconds"])


def test_times_that_contradict_each_other_give_usable_constants():
    short_times = [
        replace(sample, total=sample.total / 9) if sample.kind != LONG else sample for sample in make_sample(CONSTANTS)
    ]
    assert min(fit_constants(short_times).values()) > 0


def test_missing_measurements_are_named():
    with pytest.raises(ValueError, match="short writes, small windows"):
        fit_constants([sample for sample in make_sample(CONSTANTS) if sample.kind not in (SMALL_WINDOWS, SHORT_WRITES)])


def test_ranks_measure_all_constants(tmp_path):
    steps = []
    settings = CalibrationSettings(ranks=2, rounds=2, edge=256, directory=str(tmp_path))
    constants = calibrate(settings, lambda text, share: steps.append((text, share)))
    values = constants.values
    assert constants.unrest >= 1
    assert set(values) == set(NAMES)
    assert min(values.values()) > 0
    assert steps == [("round 1 of 2", 0.5), ("round 2 of 2", 1.0)]
    assert list(tmp_path.iterdir()) == []


def test_the_file_of_a_host_is_written_shown_used_and_removed(tmp_path):
    result = run("model", "calibrate", "--ranks", "2", "--rounds", "1", "--edge", "256")
    assert result.exit_code == 0, result.output
    path = own_path()
    assert path.is_relative_to(tmp_path / "cache")
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert in_force().source == str(path)
    shown = run("model", "calibrate", "--show")
    assert f"constants of {path}" in shown.output
    assert all(name in shown.output for name in NAMES)
    assert run("model", "calibrate", "--reset").exit_code == 0
    assert not path.exists()
    again = run("model", "calibrate", "--reset")
    assert again.exit_code == 0
    assert "there is no" in again.stderr


@pytest.mark.long
def test_constants_for_another_file_do_not_become_those_of_the_host(tmp_path):
    target = tmp_path / "mine.toml"
    result = run("model", "calibrate", "--ranks", "1", "--rounds", "1", "--edge", "64", "--output", str(target))
    assert result.exit_code == 0, result.output
    assert target.exists()
    assert not own_path().exists()
    assert "built-in constants" in run("model", "calibrate", "--show").output


def test_contradicting_options_are_rejected():
    result = run("model", "calibrate", "--show", "--reset")
    assert result.exit_code == 2
    assert "exclude each other" in result.stderr


def run_explain(folder, model=None, layout="(cyclic, *)"):
    """Return the description of a read of the file in a folder, made in a new process."""
    program = (
        "import sys, plait\n"
        "file = plait.open(sys.argv[1], strategy='automatic')\n"
        "print(file.explain(plait.Layout(file.shape, sys.argv[2], grid=(4,))))\n"
    )
    variables = {**os.environ, **({} if model is None else {"PLAIT_MODEL": str(model)})}
    return subprocess.run([sys.executable, "-c", program, str(folder / "a.npy"), layout], env=variables, text=True,
                          capture_output=True, check=False)  # fmt: skip


@pytest.mark.long
def test_choices_follow_the_file(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((600, 500)))
    built_in = run_explain(tmp_path)
    assert "constants  built in" in built_in.stdout
    slow = {**builtin().values, "request_seconds": 1e-3}
    fast = {**builtin().values, "window_bytes_per_second": 2e3}
    for name, values, strategy in (("slow", slow, "two-phase"), ("fast", fast, "direct")):
        save(format_constants(values, 2), tmp_path / f"{name}.toml")
        description = run_explain(tmp_path, tmp_path / f"{name}.toml")
        assert f"strategy   {strategy}, predicted" in description.stdout, description
        assert f"constants  of {tmp_path / name}.toml" in description.stdout
        save(format_constants(values, 2), own_path())
        description = run_explain(tmp_path)
        assert f"strategy   {strategy}, predicted" in description.stdout
        assert f"constants  of {own_path()}" in description.stdout
        assert description.stderr == ""
    without_file = run_explain(tmp_path, "builtin")
    assert without_file.stdout == built_in.stdout


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("version = 2", "version = 0", "is of version 0, and this Plait uses version 2"),
        ("cores = ", "cores = 9", "and this host has"),
        ('processor = "', 'processor = "Z80 ', "was measured on another processor (Z80"),
        ("run_seconds = ", "run_seconds = -", "run_seconds is -"),
        ("wait_seconds", "steps", "has no wait_seconds"),
    ],
)
def test_an_unusable_file_is_reported_once(tmp_path, old, new, words):
    np.save(tmp_path / "a.npy", np.zeros((600, 500)))
    save(format_constants({**builtin().values, "request_seconds": 1e-3}, 2).replace(old, new), own_path())
    description = run_explain(tmp_path)
    assert "constants  built in" in description.stdout
    assert words in description.stderr
    assert "plait model calibrate" in description.stderr
    assert len(description.stderr.splitlines()) == 1


def test_a_named_file_must_exist_and_be_complete(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.zeros(3))
    (tmp_path / "bad.toml").write_text("what?\n")
    for name, words in (("none.toml", "the file cannot be read"), ("bad.toml", 'line 1: "what\\?" is not of the form')):
        monkeypatch.setenv("PLAIT_MODEL", str(tmp_path / name))
        with pytest.raises(plait.ArgumentError, match=words):
            plait.open(tmp_path / "a.npy")


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(plait.StoreError, match="--output"):
        save("", tmp_path / "file" / "a.toml")
    with pytest.raises(plait.StoreError, match="--dir"):
        calibrate(CalibrationSettings(ranks=1, rounds=1, edge=64, directory=str(tmp_path / "none")))


def test_a_user_without_folders_gets_an_error(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    with pytest.raises(plait.Error, match="--output"):
        own_path()
