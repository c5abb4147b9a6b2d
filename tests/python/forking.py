"""Runs of a function in a forked child process, for tests of the calls of Plait that a child may make."""

import os
import signal
import time
import traceback

import pytest

SECONDS = 60


def child_wait_status(body, leave=os._exit):
    """Run `body` in a forked child, which is killed after SECONDS, and return its wait status; 0 means success."""
    child = os.fork()
    if child == 0:
        try:
            body()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        leave(0)
    limit = time.monotonic() + SECONDS
    while time.monotonic() < limit:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def run_in_child(body, leave=os._exit):
    """Run `body` in a child that has to end successfully without a signal."""
    status = child_wait_status(body, leave)
    if status == signal.SIGKILL:
        pytest.fail("the child has not ended")
    assert status == 0
