"""Processes of a job meet in a folder of each test's own, and leave nothing there."""

import pytest


@pytest.fixture(autouse=True)
def _meets_in_its_own_folder(meeting_folder):
    pass
