"""Pipes meet in a folder of each test's own."""

import pytest


@pytest.fixture(autouse=True)
def _meets_in_its_own_folder(meeting_folder):
    pass
