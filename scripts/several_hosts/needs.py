"""Checks which kinds of hosts this machine supports, and states what is missing for the others."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

TOOLS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "mount": "mount",
    "hostname": "hostname",
}
BLKIO = Path("/sys/fs/cgroup/blkio")


def environment() -> dict[str, str]:
    """This process's environment, with the folders of the system's tools on the path."""
    return {**os.environ, "PATH": f"{os.environ.get('PATH') or os.defpath}:/usr/sbin:/sbin"}


def find(tool: str) -> str | None:
    """Returns the path of a tool of the system."""
    return shutil.which(tool, path=environment()["PATH"])


def new_namespaces() -> list[str]:
    """Returns the words before a command that start it as process 1 of new namespaces."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    kinds = ["--net", "--mount", "--uts", "--ipc", "--pid"]
    return ["unshare", *user, *kinds, "--fork", "--kill-child", "--mount-proc"]


def find_failure(script: str) -> str | None:
    """Returns why a shell script fails in new namespaces; None if it succeeds."""
    result = subprocess.run(
        [*new_namespaces(), "/bin/sh", "-euc", script],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if result.returncode == 0:
        return None
    return (result.stderr.strip().splitlines() or [f"status {result.returncode}"])[-1]


def find_obstacle_to_hosts() -> str | None:
    """Returns why this machine cannot make hosts, and what to do about it; None if it can."""
    missing = sorted({package for tool, package in TOOLS.items() if find(tool) is None})
    if missing:
        return f"programs are missing; install (Debian's packages): {' '.join(missing)}"
    reason = find_failure(
        "ip link add name br0 type bridge; ip link add v0 type veth peer name v1; mount -t tmpfs tmpfs /dev/shm"
    )
    if reason is None:
        return None
    user = "" if os.geteuid() == 0 else " for this user (the superuser may be allowed it)"
    return f"this machine allows no network namespaces{user}: {reason}"


def find_obstacle_to_links() -> str | None:
    """Returns why links cannot have a limited rate; None if they can."""
    reason = find_failure(
        "ip link add v0 type veth peer name v1; tc qdisc add dev v0 root tbf rate 1mbit burst 16k latency 9ms"
    )
    return reason and f"the kernel has no token bucket (tc tbf): {reason}"


def find_obstacle_to_delays() -> str | None:
    """Returns why packets cannot be delayed; None if they can."""
    if os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return None
    return "they need /dev/net/tun, which this user cannot open"


def find_obstacle_to_disks(limited: bool) -> str | None:
    """Returns why hosts cannot have disks of a given size, or with `limited` of a limited rate; None if they can."""
    if os.geteuid() != 0:
        return "they need loop devices, which only the superuser may make"
    if find("mkfs.ext4") is None:
        return "mkfs.ext4 is missing; install (Debian's package): e2fsprogs"
    if not Path("/dev/loop-control").exists():
        return "there is no /dev/loop-control, of which loop devices are had"
    if limited and not (BLKIO / "blkio.throttle.write_bps_device").exists():
        return f"they need the controller blkio of cgroup version 1, which is not at {BLKIO}"
    groups = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    if limited and not any(group.split(":")[1:] == ["blkio", "/"] for group in groups):
        return "they need processes in the root group of the controller blkio, where these are not"
    return None
