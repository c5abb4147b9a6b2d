"""Runs functions in forked child processes, to test which calls of Plait a child may make."""

import os
import signal
import time
import traceback

import pytest

TIME_LIMIT = 60  # seconds


def child_wait_status(body, leave=os._exit):
    """Run `body` in a forked child, which is killed after TIME_LIMIT, and return its wait status; 0 means success.

    leave  ends the child after `body`: os._exit by default, which skips the handlers of atexit
    """
    child = os.fork()
    if child == 0:
        try:
            body()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        leave(0)
    deadline = time.monotonic() + TIME_LIMIT
    while time.monotonic() < deadline:
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
