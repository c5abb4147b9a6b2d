"""Connections to a writer without its key, while readers read."""

import os
import random
import socket
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from pipe_ends import BackgroundThread, read_steps

import plait
from plait import Layout

ROUNDS, CONNECTIONS = 6, 100  # steps, and unauthenticated connections during each
MAGIC = b"\x93PLAIT\r\n"


def make_messages(random_bytes):
    """Return messages without a key: nothing, random bytes, half a hello, and a whole hello with an invalid proof."""
    hello = MAGIC + bytes([1, 0, 0, 0]) + (0x01020304).to_bytes(4, "little") + (24).to_bytes(4, "little") + bytes(4)
    hello += (1 << 20).to_bytes(8, "little") + random_bytes(32)
    return [
        b"",
        random_bytes(200),
        MAGIC + random_bytes(12),
        hello[:63],
        hello + random_bytes(32),
        hello + hello * 1000,
    ]


def writer_addresses(folder):
    """Return the addresses of the writer, in the form that sockets use."""
    # The third line of the file has the addresses, after two other words.
    words = next(folder.glob("*.pipe")).read_text().splitlines()[2].split()[2:]
    local = next(word.removeprefix("local:") for word in words if word.startswith("local:"))
    host, _, port = next(word for word in words if word.startswith("tcp:127.")).removeprefix("tcp:").rpartition(":")
    return [(socket.AF_UNIX, "\0" + local), (socket.AF_INET, (host, int(port)))]


def resident_bytes():
    """Return the number of bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_unauthenticated_connections_delay_no_reader_and_use_no_memory(meeting_folder):
    draw = random.Random(5)
    layout = Layout((5000,), "(cyclic(3)) onto (2)")
    with plait.open("pipe:flow?network=lo&readers=0&queue=1", "w", shape=(5000,), dtype="f8") as file:
        reader = BackgroundThread(read_steps, "pipe:flow", layout)
        before = after = 0
        for number in range(ROUNDS):
            connections = []
            for index in range(CONNECTIONS):
                family, address = writer_addresses(meeting_folder)[index % 2]
                # The writer does not handle connections that wait in the kernel.
                connection = socket.socket(family, socket.SOCK_STREAM)
                connection.setblocking(False)
                with suppress(BlockingIOError):
                    connection.connect(address)
                with suppress(OSError):
                    connection.send(make_messages(draw.randbytes)[index % 6])
                connections.append(connection)
            file.write(np.full(5000, float(number)))
            # The first connections may create buffers that remain allocated.
            before, after = (resident_bytes(), 0) if number == 1 else (before, resident_bytes())
            for connection in connections:
                connection.close()
    steps = reader.result()
    assert [float(arrays[1][0]) for arrays in steps] == list(range(ROUNDS))
    assert after - before < 20 << 20


@pytest.mark.parametrize("family", [socket.AF_UNIX, socket.AF_INET])
def test_unauthenticated_connections_get_no_usable_data(meeting_folder, family):
    with plait.open("pipe:flow?network=lo&readers=0&drop=oldest", "w", shape=(3,), dtype="f8"):
        address = dict(writer_addresses(meeting_folder))[family]
        for message in make_messages(random.Random(7).randbytes)[1:]:
            with socket.socket(family, socket.SOCK_STREAM) as connection:
                connection.settimeout(5)
                connection.connect(address)
                received = b""
                with suppress(OSError):
                    connection.sendall(message)
                    connection.shutdown(socket.SHUT_WR)  # otherwise the writer would wait for more bytes
                    while data := connection.recv(4096):
                        received += data
            # A peer that has sent a hello may get a hello and a proof in answer; every other peer gets nothing.
            assert len(received) in ((0, 96) if len(message) >= 64 and message.startswith(MAGIC) else (0,))
