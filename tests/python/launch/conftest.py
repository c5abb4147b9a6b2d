"""The processes of a job meet in a folder that each test has for itself, and that must be empty after the test."""

import pytest


@pytest.fixture(autouse=True)
def _meets_in_its_own_folder(meeting_folder):
    pass
