"""The network of the hosts: a bridge in the head's namespace, and a pair of virtual devices to each host."""

from __future__ import annotations

from several_hosts.disks import run
from several_hosts.spec import HEAD_ADDRESS, Spec

BRIDGE, DEVICE = "br0", "eth0"
# The maximum time that a packet waits for a limited link before the network drops it, in milliseconds.
QUEUE_MS = 50


def make_bridge() -> None:
    """Makes the bridge, which is also the head's device and has its address."""
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "name", BRIDGE, "type", "bridge")
    run("ip", "addr", "add", f"{HEAD_ADDRESS}/24", "dev", BRIDGE)
    run("ip", "link", "set", BRIDGE, "up")


# Disables IPv6: the addresses that the kernel assigns would be a second route to each host.
NO_VERSION_6 = """for name in all default; do
  file=/proc/sys/net/ipv6/conf/$name/disable_ipv6; ! test -w $file || echo 1 >$file
done"""


def inside(pid: int, *command: str) -> str:
    """Runs a tool in the network namespace of a process, and returns its output."""
    return run("nsenter", f"--net=/proc/{pid}/ns/net", "--", *command)


def make_link(spec: Spec, host: int, pid: int) -> None:
    """Joins the namespace of the process `pid` to the bridge."""
    bridge_end = f"to-{spec.names()[host]}"
    run("ip", "link", "add", "name", bridge_end, "type", "veth", "peer", "name", DEVICE, "netns", str(pid))
    address(spec, host, pid)
    run("ip", "link", "set", bridge_end, "master", BRIDGE, "up")
    limit(spec, DEVICE, pid)  # limits what the host sends
    limit(spec, bridge_end)  # limits what the host receives


def address(spec: Spec, host: int, pid: int) -> None:
    """Gives a host's device its address."""
    inside(pid, "ip", "link", "set", "lo", "up")
    inside(pid, "ip", "addr", "add", f"{spec.address(host)}/24", "dev", DEVICE)
    inside(pid, "ip", "link", "set", DEVICE, "up")


def limit(spec: Spec, device: str, pid: int = 0) -> None:
    """Limits the rate at which a device sends.

    The device is in the namespace of the process `pid`, or in this one if `pid` is 0. A burst of a millisecond, and at
    least of a few packets, may exceed the rate.
    """
    if spec.link:
        burst = max(8 * 1600, spec.link // 8 // 1000)
        bucket = ["tbf", "rate", f"{spec.link}bit", "burst", f"{burst}b", "latency", f"{QUEUE_MS}ms"]
        command = ["tc", "qdisc", "add", "dev", device, "root", *bucket]
        if pid:
            inside(pid, *command)
        else:
            run(*command)
