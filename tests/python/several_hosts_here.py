"""Helpers of tests that need several hosts: scripts/hosts.py makes them on this machine as network namespaces."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from launching import find_launcher, needs_mpi

HOSTS = Path(__file__).parents[2] / "scripts/hosts.py"


@cache
def find_missing_features():
    """Return for each feature of scripts/hosts.py why this machine does not allow it, or None if it does."""
    checked = subprocess.run([sys.executable, HOSTS, "check"], capture_output=True, text=True, check=False)
    if checked.returncode:
        features = ("hosts", "launcher", "link rates", "link delays", "disk sizes", "disk rates")
        return dict.fromkeys(features, checked.stdout.strip() or checked.stderr.strip())
    # The command prints each feature in a column of 13 characters, and after it "yes" or the reason.
    lines = [(line[:13].strip(), line[13:].strip()) for line in checked.stdout.splitlines()]
    return {feature: None if answer == "yes" else answer for feature, answer in lines}


def skip_without(*features):
    """Return a mark that skips a test if this machine does not allow one of these features of scripts/hosts.py."""
    reason_by_feature = find_missing_features()
    missing = {name: reason_by_feature[name] for name in features if reason_by_feature[name] is not None}
    # Without hosts, all features are missing for that one reason.
    reasons = (
        set(missing.values())
        if reason_by_feature["hosts"] is not None
        else [f"{name}: {reason}" for name, reason in missing.items()]
    )
    return pytest.mark.skipif(bool(reasons), reason="; ".join(reasons))


needs_hosts = skip_without("hosts")
needs_hosts_and_mpi = skip_without("hosts", "launcher") if find_launcher() else needs_mpi


def run_hosts_script(command, *arguments, environment=None, seconds=300):
    """Run a command of scripts/hosts.py, such as "exec", and return the completed process."""
    return subprocess.run(
        [sys.executable, HOSTS, command, *map(str, arguments)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment,
        timeout=seconds,
        check=False,
    )


def hosts_script_output(command, *arguments, **options):
    """Return the standard output of a command of scripts/hosts.py, which must end successfully."""
    result = run_hosts_script(command, *arguments, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
