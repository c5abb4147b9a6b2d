"""A network that delays packets: the relay replaces the bridge, because many kernels cannot delay packets themselves.

Each host's device is a TAP device whose other end the relay holds.  TCP packets of up to 64 KiB pass without being
split, so that the relay handles few packets.  A host's device limits the rate at which the host sends, and the relay
limits the rate at which it receives.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import os
import select
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path

from several_hosts import links
from several_hosts.disks import run
from several_hosts.spec import HEAD, HEAD_ADDRESS, Spec

TUN = Path("/dev/net/tun")
SET_INTERFACE, SET_OFFLOAD = 0x400454CA, 0x400454D0
TAP_WITHOUT_INFORMATION, VIRTIO_HEADER = 0x0002 | 0x1000, 0x4000
CHECKSUM_AND_SEGMENTS = 0x01 | 0x02 | 0x04  # the receiver does checksums and segmentation of TCP over IPv4 and IPv6
HEADER = 10  # bytes of the virtio header before a packet, which states the offloaded work
LARGEST = HEADER + 14 + 65536
SET_TIMER_SLACK = 29


class Port:
    """The relay's end of one device."""

    def __init__(self, name: str) -> None:
        """Makes the device in this network namespace, from which it can be moved."""
        self.file = os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        flags = TAP_WITHOUT_INFORMATION | VIRTIO_HEADER
        fcntl.ioctl(self.file, SET_INTERFACE, struct.pack("16sH22x", name.encode(), flags))
        fcntl.ioctl(self.file, SET_OFFLOAD, CHECKSUM_AND_SEGMENTS)
        self.link_free_at = 0.0
        """the time on the monotonic clock at which the link to this host will have sent all queued packets"""


class Relay:
    """Passes packets between ports, with the delay and the rate of the links."""

    def __init__(self, ports: list[Port], delay: float, rate: int) -> None:
        """`delay` is in seconds, `rate` in bits a second; 0 does not limit the rate."""
        self.ports, self.delay, self.rate = ports, delay, rate
        self.port_by_address: dict[bytes, Port] = {}
        self.queued_packets: list[tuple[float, int, Port, bytes]] = []
        self.count = 0

    def run(self) -> None:
        """Passes packets forever."""
        with suppress(PermissionError):  # real-time priority, so that packets do not wait for busy ranks
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        ctypes.CDLL(None).prctl(SET_TIMER_SLACK, 1000, 0, 0, 0)  # in ns; the default of 50 µs would add to each delay
        sources = {port.file: port for port in self.ports}
        while True:
            timeout = max(0.0, self.queued_packets[0][0] - time.monotonic()) if self.queued_packets else None
            for file in select.select(list(sources), [], [], timeout)[0]:
                self.take(sources[file])
            while self.queued_packets and self.queued_packets[0][0] <= time.monotonic():
                _, _, port, packet = heapq.heappop(self.queued_packets)
                try:
                    os.write(port.file, packet)
                except OSError:  # the device is full or not up; a network may lose packets
                    continue

    def take(self, source: Port) -> None:
        """Reads a few packets that a host has sent, and queues each for its receiver.

        Like a switch, the relay learns from senders which address is on which port; packets to other addresses go to
        all ports.
        """
        for _ in range(16):
            try:
                packet = os.read(source.file, LARGEST)
            except OSError:  # there is no further packet, or the device is not up yet
                return
            receiver_address, sender = packet[HEADER : HEADER + 6], packet[HEADER + 6 : HEADER + 12]
            self.port_by_address[sender] = source
            receiver = self.port_by_address.get(receiver_address)
            for port in [receiver] if receiver is not None else self.ports:
                if port is not source:
                    self.queue(port, packet)

    def queue(self, port: Port, packet: bytes) -> None:
        """Queues a packet until its arrival, or drops it if it would wait too long for the link."""
        arrival = time.monotonic() + self.delay
        if self.rate:
            send_start = max(arrival, port.link_free_at)
            if send_start > arrival + links.QUEUE_MS / 1000:
                return
            arrival = port.link_free_at = send_start + (len(packet) - HEADER) * 8 / self.rate
        self.count += 1  # keeps packets with the same arrival time in order
        heapq.heappush(self.queued_packets, (arrival, self.count, port, packet))


def start(spec: Spec, pids: list[int]) -> None:
    """Connects the head and the namespaces of the processes `pids` by a thread, which runs until this process ends."""
    run("ip", "link", "set", "lo", "up")
    ports = [Port(f"to-{HEAD}")]
    run("ip", "addr", "add", f"{HEAD_ADDRESS}/24", "dev", f"to-{HEAD}")
    run("ip", "link", "set", f"to-{HEAD}", "up")
    for number, pid in enumerate(pids):
        name = f"to-{spec.names()[number]}"
        ports.append(Port(name))
        run("ip", "link", "set", name, "netns", str(pid))
        links.inside(pid, "ip", "link", "set", name, "name", links.DEVICE)
        links.address(spec, number, pid)
        links.limit(spec, links.DEVICE, pid)
    threading.Thread(target=Relay(ports, spec.delay, spec.link).run, daemon=True).start()
