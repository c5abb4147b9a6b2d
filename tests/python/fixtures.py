"""The fixtures and hooks that the tests of all products share."""

import itertools
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from levels import (  # noqa: F401
    _examples,
    effort,
    pytest_collection_modifyitems,
    pytest_pycollect_makeitem,
)
from object_servers import ObjectServer, object_server, use_keys
from zarr_locations import Location, MemoryPath

settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("fixed")

# A shell starts what is to run in the background with Ctrl-C ignored, and the programs that tests start inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PLAIT_")]:
        monkeypatch.delenv(name)
    # It has Python write a line in pieces, and lines of several ranks then meet within each other.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


_buckets = itertools.count()


@pytest.fixture(scope="session")
def s3_server():
    """A server of objects for all tests of this process."""
    with object_server() as server:
        yield server


@pytest.fixture(scope="module")
def shared_server():
    """A server of objects for the tests of one file."""
    with object_server() as server:
        yield server


@pytest.fixture
def server(shared_server: ObjectServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """That server without faults and with an empty log, and its keys in the environment."""
    use_keys(monkeypatch, shared_server, tmp_path)
    shared_server.faults()
    shared_server.log()
    return shared_server


@pytest.fixture(params=["folder", "memory", pytest.param("s3", marks=pytest.mark.long)])
def location(request: pytest.FixtureRequest, tmp_path: Path):
    """Where a test has Zarr arrays: an empty folder, or a location in memory or on a server (zarr_locations.py)."""
    if request.param == "folder":
        folder = tmp_path / "location"
        folder.mkdir()
        yield folder
        return
    if request.param == "s3":
        use_keys(request.getfixturevalue("monkeypatch"), request.getfixturevalue("s3_server"), tmp_path)
    location: Location = MemoryPath(f"{request.param}://bucket-{next(_buckets)}/location")
    yield location
    location.clear()


@pytest.fixture
def meeting_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder of the test's own in which programs meet, and in which they leave nothing."""
    folder = tmp_path / "meet"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("PLAIT_MEET", str(folder))
    yield folder
    assert [path.name for path in folder.iterdir()] == []


@pytest.fixture
def nothing_left(tmp_path: Path):
    """Fails a test that leaves temporary files of the library behind in its folder."""
    yield
    remaining = [path.name for path in tmp_path.rglob(".*plait-*")]
    assert not remaining, f"temporary files were left behind: {remaining}"
