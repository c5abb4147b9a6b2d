"""Machine files: the files of the package, and the errors for invalid files."""

import pytest

import plait
from plait import model

DELTA = model.example_text("delta")


def test_the_package_includes_machines():
    assert model.examples() == ("cluster", "delta", "laptop-nvme")
    for name in model.examples():
        machine = model.load(name)
        assert machine.name
        assert machine.source
        assert machine.disks.count >= 1


def test_the_delta_is_that_of_the_thesis():
    machine = model.load("delta")
    assert (machine.disks.count, machine.disks.block, machine.disks.prefetch) == (64, 4096, 8)
    assert machine.processors == 512
    assert machine.t_disk == pytest.approx(8 * machine.t_block)
    assert machine.with_disks(2).disks.count == 2


def test_a_file_is_read(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(DELTA.replace("count = 64 ", "count = 3 "), encoding="utf-8")
    assert model.load(path).disks.count == 3


def test_keys_may_be_left_out():
    smallest = """
[machine]
name = "small"
[processors]
count = 4
memory_rate = 1e9
[disks]
count = 1
block = 4096
read_rate = 1e8
write_rate = 1e8
[requests]
latency = 1e-5
[network]
latency = 1e-6
link_rate = 1e9
total_rate = 1e9
"""
    machine = model.parse(smallest)
    assert (machine.per_node, machine.disks.prefetch, machine.synchronization) == (1, 1, "none")


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("[disks]", "[disk]", "found the section .disk., expected machine, processors, disks, requests and network"),
        ("[machine]", "machine = 1\n[network]", "TOML"),
        ("block = 4096", "blok = 4096", "found disks.blok, expected count, block, prefetch"),
        ("block = 4096 ", "# ", "disks.block is missing; add it, in bytes"),
        ("block = 4096", "block = 0", "found disks.block = 0, expected a whole number of 1 or above, in bytes"),
        ("block = 4096", "block = 1.5", "found disks.block = 1.5, expected a whole number"),
        ("block = 4096", "block = '4K'", "found disks.block = '4K', expected bytes"),
        ("block = 4096", "block = true", "found disks.block = True, expected bytes"),
        ("read_rate = 111618", "read_rate = 0", "found disks.read_rate = 0, expected a number above 0"),
        ("read_rate = 111618", "read_rate = nan", "disks.read_rate = nan, expected 0 or a number of 1e-15 to"),
        ("read_rate = 111618", f"read_rate = {10**400}", "expected 0 or a number of 1e-15 to 1e.18, in bytes"),
        ("read_rate = 111618", "read_rate = 1e-320", "expected 0 or a number of 1e-15 to 1e.18, in bytes"),
        ('"barrier"', '"sometimes"', "requests.synchronization = 'sometimes', expected none, barrier or ordered"),
        ('name = "Intel', 'name = 3 # "', "found machine.name = 3, expected a text"),
        ("[disks]", "[disks", "not TOML"),
    ],
)
def test_wrong_values_are_reported(old, new, text):
    assert old in DELTA
    with pytest.raises(ValueError, match=text) as caught:
        model.parse(DELTA.replace(old, new), "mine.toml")
    assert isinstance(caught.value, plait.Error)
    assert str(caught.value).startswith("mine.toml: ")


def test_invalid_files_are_reported(tmp_path):
    with pytest.raises(plait.Error, match="found the machine 'nope', expected a file or one of cluster, delta"):
        model.load("nope")
    with pytest.raises(plait.Error, match="found the machine 'nope', expected a file"):
        model.example_text("nope")
    with pytest.raises(FileNotFoundError):
        model.load(tmp_path / "nope.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(plait.Error, match="not a text in UTF-8, byte 0"):
        model.load(tmp_path / "bytes.toml")
