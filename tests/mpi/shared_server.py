"""An object server that rank 0 runs for all ranks."""

import contextlib
import socket

from nodes import SEVERAL_HOSTS
from object_servers import LOCAL, ObjectServer, object_server


@contextlib.contextmanager
def shared_server(comm, program="s3_server.py"):
    """Run a server on rank 0, and yield on each rank an object by which it controls the server."""
    with contextlib.ExitStack() as stack:
        # Ranks on other hosts do not reach a server on the loopback device.
        host = socket.gethostbyname(socket.gethostname()) if SEVERAL_HOSTS else LOCAL
        started = stack.enter_context(object_server(host=host, program=program)) if comm.rank == 0 else None
        yield ObjectServer(*comm.bcast((started.port, started.host) if started else None))
