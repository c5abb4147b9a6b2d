"""Machine files of the simulation."""

import pytest

import plait
from plait import model, simulate


@pytest.mark.parametrize("name", simulate.examples())
def test_included_machines_can_be_read(name):
    machine = simulate.load(name)
    assert machine.name
    assert machine.get("processors", "quantum") > 0
    assert machine.document()["device"]["kind"] in ("distance", "disk", "ssd", "volume", "servers", "server")
    assert simulate.example_text(name).count("#") > 5


def test_the_cost_model_accepts_the_same_files():
    shared = set(simulate.examples()) & set(model.examples())
    assert shared == {"cluster", "laptop-nvme"}
    for name in shared:
        assert model.load(name).name == simulate.load(name).name


def test_amounts_have_units():
    machine = simulate.parse(
        """
        [simulate.processors]
        quantum = "3 ms"
        [simulate.cache]
        size = "1.5 GiB"
        copy_rate = "8 Gbit/s"
        dirty_limit = "20 %"
        write_allocate = false
        [simulate.device]
        kind = "disk"
        rate = "9.6 MB/s"
        seek_far = "15ms"
        order = "deadline"
        """
    )
    assert machine.get("processors", "quantum") == pytest.approx(0.003)
    assert machine.get("cache", "size") == 3 << 29
    assert machine.get("cache", "copy_rate") == 1e9
    assert machine.get("cache", "dirty_limit") == pytest.approx(0.2)
    assert machine.get("cache", "write_allocate") is False
    assert machine.get("device", "rate") == pytest.approx(9.6e6)
    assert machine.get("device", "seek_far") == pytest.approx(0.015)
    assert machine.get("device", "order") == "deadline"
    assert machine.get("device", "rotation") == pytest.approx(0.00833)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[simulate.cach]\nsize = "1 MiB"', r"found the section \[simulate.cach\].*did you mean 'cache'"),
        ('[simulat.cache]\nsize = "1 MiB"', r"found the section \[simulat\].*did you mean 'simulate'"),
        ('[simulate.cache]\nsise = "1 MiB"', "found 'sise'.*did you mean 'size'"),
        ("[simulate.cache]\nsize = 1048576", "has no unit; give bytes such as 32 MiB"),
        ('[simulate.cache]\nsize = "1 megabyte"', "the units are B, KiB"),
        ('[simulate.cache]\nsize = "-1 MiB"', "not below 0"),
        ('[simulate.cache]\nwrite = "behnd"', "did you mean 'behind'"),
        ("[simulate.cache]\nwrite_allocate = 1", "true or false"),
        ('[simulate.cache]\nread_ahead = "many?3"', "has no unit"),
        ('[simulate.device]\nkind = "dsik"', "no device 'dsik'.*did you mean 'disk'"),
        ('[simulate.device]\nkind = "ssd"\nseek_far = "1 ms"', "found 'seek_far'"),
        ('[simulate.device]\nkind = "disk"\norder = "fifi"', "did you mean 'fifo'"),
        ('[machine]\nname = "x"', r"there is no section \[simulate.device\]"),
        ("[simulate", "not TOML"),
    ],
)
def test_wrong_values_are_named(text, message):
    with pytest.raises(plait.ArgumentError, match=message):
        simulate.parse(text, "mine.toml")


def test_a_missing_machine():
    with pytest.raises(plait.ArgumentError, match="did you mean 'cluster'"):
        simulate.load("clusters")


def test_files_may_begin_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "marked.toml"
    path.write_text('\ufeff[machine]\nname = "marked"\n[simulate.cache]\nsize = "1 MiB"', encoding="utf-8")
    assert simulate.load(path).name == "marked"
    assert simulate.parse(path.read_text(encoding="utf-8")).name == "marked"


def test_a_folder_and_no_name_are_no_machine_files(tmp_path):
    with pytest.raises(plait.ArgumentError, match="which is no name; name a machine file"):
        simulate.load("")
    with pytest.raises(plait.ArgumentError, match="which is a folder"):
        simulate.load(tmp_path)
    with pytest.raises(plait.ArgumentError, match="which is no name"):
        model.load("")


def test_changes_make_another_machine():
    machine = simulate.load("laptop-nvme")
    other = machine.changed("device", kind="disk", seek_far="10 ms")
    assert machine.kind("device") == "ssd"
    assert other.kind("device") == "disk"
    assert "channels" not in other.document()["device"]
    assert other.get("device", "seek_far") == pytest.approx(0.010)
    assert other.changed("cache", size=1 << 20).get("cache", "size") == 1 << 20


def test_this_machine_can_be_measured(tmp_path):
    text = simulate.calibrate(tmp_path, seconds=1, size=16 << 20)
    machine = simulate.parse(text)
    assert machine.get("device", "read_rate") > 1e5
    assert machine.get("cache", "copy_rate") > 1e7
    assert 0 < machine.get("processors", "call") < 0.01
    if machine.kind("device") == "ssd":
        assert 1 <= machine.get("device", "channels") <= 16
    else:  # this machine's device saves up requests, as limited volumes do
        assert machine.kind("device") == "volume"
        assert machine.get("device", "read_requests") >= 1
    assert not list(tmp_path.iterdir())
    with pytest.raises(plait.ArgumentError, match="16 MiB or more"):
        simulate.calibrate(tmp_path, size=1)
    with pytest.raises(plait.StoreError, match="cannot measure"):
        simulate.calibrate(tmp_path / "none", seconds=1)
