"""What tests share that run programs on hosts in network namespaces (scripts/hosts.py)."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from launching import find_launcher, needs_mpi

HOSTS = Path(__file__).parents[2] / "scripts/hosts.py"


@cache
def allowed():
    """What scripts/hosts.py says of each thing: None where this machine allows it, and else why not."""
    said = subprocess.run([sys.executable, HOSTS, "check"], capture_output=True, text=True, check=False)
    if said.returncode:
        things = ("hosts", "launcher", "link rates", "link delays", "disk sizes", "disk rates")
        return dict.fromkeys(things, said.stdout.strip() or said.stderr.strip())
    lines = [(line[:13].strip(), line[13:].strip()) for line in said.stdout.splitlines()]
    return {what: None if text == "yes" else text for what, text in lines}


def needs(*things):
    """Skips, by name, where this machine does not allow these things."""
    missing = {thing: allowed()[thing] for thing in things if allowed()[thing] is not None}
    # Where there are no hosts, all things are missing for that one reason.
    reasons = set(missing.values()) if allowed()["hosts"] is not None else [f"{a}: {b}" for a, b in missing.items()]
    return pytest.mark.skipif(bool(reasons), reason="; ".join(reasons))


needs_hosts = needs("hosts")
needs_hosts_and_mpi = needs("hosts", "launcher") if find_launcher() else needs_mpi


def on_hosts(what, *arguments, environment=None, seconds=300):
    """Runs scripts/hosts.py with these arguments and returns how it ended."""
    return subprocess.run(
        [sys.executable, HOSTS, what, *map(str, arguments)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment,
        timeout=seconds,
        check=False,
    )


def said(what, *arguments, **options):
    """The standard output of scripts/hosts.py, which ended well."""
    done = on_hosts(what, *arguments, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
