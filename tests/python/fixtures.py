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

# Shells start background jobs with SIGINT ignored, and programs that tests start would inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PLAIT_")]:
        monkeypatch.delenv(name)
    # With this variable Python writes a line in pieces, so that lines of several ranks are interleaved.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


_buckets = itertools.count()


@pytest.fixture(scope="session")
def s3_server():
    """Run an object server for all tests of this process."""
    with object_server() as server:
        yield server


@pytest.fixture(scope="module")
def shared_server():
    """Run an object server for the tests of one file."""
    with object_server() as server:
        yield server


@pytest.fixture
def server(shared_server: ObjectServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Return the server of the file without faults and with an empty log; its keys are in the environment."""
    use_keys(monkeypatch, shared_server, tmp_path)
    shared_server.set_faults()
    shared_server.take_log()
    return shared_server


@pytest.fixture(params=["folder", "memory", pytest.param("s3", marks=pytest.mark.long)])
def location(request: pytest.FixtureRequest, tmp_path: Path):
    """Return an empty location of Zarr arrays: a folder, or objects in memory or on a server (zarr_locations.py)."""
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
    """Return a new folder through whose files programs find each other; a file that is left there fails the test."""
    folder = tmp_path / "meet"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("PLAIT_MEET", str(folder))
    yield folder
    assert [path.name for path in folder.iterdir()] == []


@pytest.fixture
def nothing_left(tmp_path: Path):
    """Fail a test that leaves temporary files of the library in its folder."""
    yield
    remaining = [path.name for path in tmp_path.rglob(".*plait-*")]
    assert not remaining, f"temporary files were left behind: {remaining}"
