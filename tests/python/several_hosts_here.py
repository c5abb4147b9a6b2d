"""Helpers of tests that run programs on hosts in network namespaces (scripts/hosts.py)."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from launching import find_launcher, needs_mpi

HOSTS = Path(__file__).parents[2] / "scripts/hosts.py"


@cache
def allowed():
    """Return the answer of scripts/hosts.py for each feature: None if this machine allows it, else the reason."""
    checked = subprocess.run([sys.executable, HOSTS, "check"], capture_output=True, text=True, check=False)
    if checked.returncode:
        things = ("hosts", "launcher", "link rates", "link delays", "disk sizes", "disk rates")
        return dict.fromkeys(things, checked.stdout.strip() or checked.stderr.strip())
    lines = [(line[:13].strip(), line[13:].strip()) for line in checked.stdout.splitlines()]
    return {what: None if text == "yes" else text for what, text in lines}


def needs(*things):
    """Return a mark that skips, by name, if this machine does not allow these features."""
    missing = {thing: allowed()[thing] for thing in things if allowed()[thing] is not None}
    # Without hosts, all features are missing for that one reason.
    reasons = set(missing.values()) if allowed()["hosts"] is not None else [f"{a}: {b}" for a, b in missing.items()]
    return pytest.mark.skipif(bool(reasons), reason="; ".join(reasons))


needs_hosts = needs("hosts")
needs_hosts_and_mpi = needs("hosts", "launcher") if find_launcher() else needs_mpi


def on_hosts(what, *arguments, environment=None, seconds=300):
    """Run scripts/hosts.py with these arguments, and return the completed process."""
    return subprocess.run(
        [sys.executable, HOSTS, what, *map(str, arguments)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment,
        timeout=seconds,
        check=False,
    )


def hosts_output(what, *arguments, **options):
    """Return the standard output of scripts/hosts.py, and check that it ended successfully."""
    done = on_hosts(what, *arguments, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
