"""What tests share that run programs on hosts in network namespaces (scripts/hosts.py)."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from launching import has_mpi

HOSTS = Path(__file__).parents[2] / "scripts/hosts.py"


@cache
def allowed():
    """What scripts/hosts.py says of each thing: None where this machine allows it, and else why not."""
    said = subprocess.run([sys.executable, HOSTS, "check"], capture_output=True, text=True, check=False)
    if said.returncode:
        return dict.fromkeys(("hosts", "link rates", "link delays", "disk sizes", "disk rates"), said.stdout.strip())
    lines = [(line[:13].strip(), line[13:].strip()) for line in said.stdout.splitlines()]
    return {what: None if text == "yes" else text for what, text in lines}


def needs(*things):
    """Skips, by name, where this machine does not allow these things."""
    reasons = [f"{thing}: {allowed()[thing]}" for thing in things if allowed()[thing] is not None]
    return pytest.mark.skipif(bool(reasons), reason="; ".join(reasons))


needs_hosts = needs("hosts")
needs_hosts_and_mpi = pytest.mark.skipif(
    allowed()["hosts"] is not None or not has_mpi(),
    reason=allowed()["hosts"] or "needs mpi4py and an MPI launcher",
)


def on_hosts(what, *arguments, environment=None, seconds=60):
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
