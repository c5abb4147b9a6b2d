"""The ends of pipes meet in a folder that each test has for itself."""

import pytest


@pytest.fixture(autouse=True)
def _meets_in_its_own_folder(meeting_folder):
    pass
