"""Pipes meet in a folder of each test's own."""

import pytest


@pytest.fixture(autouse=True)
def meeting_folder(tmp_path, monkeypatch):
    folder = tmp_path / "meet"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("PLAIT_MEET", str(folder))
    yield folder
    assert [one.name for one in folder.iterdir()] == []
