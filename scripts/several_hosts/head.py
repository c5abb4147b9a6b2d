"""The head of the hosts: a process in new namespaces, which makes the hosts and runs the command.

The head is process 1 of its process namespace.  All objects that it makes end with it, even if it is killed: the kernel
kills all processes of a process namespace with process 1, and removes networks and mounts without processes.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from several_hosts import links, relay
from several_hosts.disks import make_disks, run
from several_hosts.needs import environment, new_namespaces
from several_hosts.spec import HEAD, HEAD_ADDRESS, Spec

Host = subprocess.Popen[str]
PACKAGE = Path(__file__).parent


def main(state: Path, read_end: int) -> int:
    """Makes the hosts, runs the command and returns its status; ends when the last writer of the pipe ends."""
    threading.Thread(target=end_with_parent, args=(read_end,), daemon=True).start()
    spec = Spec.load(state / "spec.json")
    write_names(spec, state)
    folders = make_disks(spec, state)
    run("/bin/sh", "-euc", links.NO_VERSION_6)
    hosts = [start_host(name, folder, spec, state) for name, folder in zip(spec.names(), folders, strict=True)]
    for name, host in zip(spec.names(), hosts, strict=True):
        assert host.stdout is not None
        if host.stdout.readline() != "ready\n":
            raise RuntimeError(f"{name} did not start")
    pids = [host.pid for host in hosts]
    if spec.delay:
        relay.start(spec, pids)
    else:
        links.make_bridge()
        for number, pid in enumerate(pids):
            links.make_link(spec, number, pid)
    write_tools(spec, state, pids)
    return run_command(spec, state)


def end_with_parent(read_end: int) -> None:
    """Ends this process, and thereby all hosts, when the process that started it has ended."""
    os.read(read_end, 1)
    os._exit(128 + signal.SIGTERM)


def write_names(spec: Spec, state: Path) -> None:
    """Gives all addresses names in the /etc/hosts of these namespaces."""
    socket.sethostname(HEAD)
    lines = ["127.0.0.1 localhost", f"{HEAD_ADDRESS} {HEAD}"]
    lines += [f"{spec.address(number)} {name}" for number, name in enumerate(spec.names())]
    (state / "hosts").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("mount", "--bind", state / "hosts", "/etc/hosts")


def find_shared_folders(spec: Spec, local: Path) -> list[Path]:
    """Returns the folders below a local one that all hosts share: requested ones, and those that each rank needs."""
    needed = [Path.cwd(), PACKAGE.parent.parent, Path(sys.prefix), Path(sys.base_prefix)]
    below = {path.resolve() for path in [*map(Path, spec.shared), *needed] if path.resolve().is_relative_to(local)}
    return sorted(path for path in below if not any(path != other and path.is_relative_to(other) for other in below))


def start_host(name: str, folder: Path, spec: Spec, state: Path) -> Host:
    """Starts the process that holds a host's namespaces."""
    disks = shlex.quote(str(state / "disks"))
    lines = [
        f"hostname {name}",
        "mount -t tmpfs -o mode=1777 tmpfs /dev/shm",
        links.NO_VERSION_6,
    ]
    for number, local in enumerate(Path(path).resolve() for path in spec.local):
        target = folder / str(number) if len(spec.local) > 1 else folder
        target.mkdir(exist_ok=True)
        target.chmod(0o1777)
        for path in find_shared_folders(spec, local):
            if path == local:
                raise RuntimeError(f"{local} cannot be each host's own: every rank must reach it")
            mount_point = target / path.relative_to(local)
            mount_point.mkdir(parents=True)
            lines.append(f"mount --bind {shlex.quote(str(path))} {shlex.quote(str(mount_point))}")
        lines.append(f"mount --rbind {shlex.quote(str(target))} {shlex.quote(str(local))}")
    # Hides the folder of all disks, so that no host can access another host's disk.
    lines.append(f"! test -d {disks} || mount -t tmpfs -o ro,size=4k tmpfs {disks}")
    # Ignoring SIGCHLD makes the kernel reap orphaned processes at once, which is a task of process 1.
    lines += ["echo ready", "trap '' CHLD", "exec cat"]
    return subprocess.Popen(
        [*new_namespaces(), "/bin/sh", "-euc", "\n".join(lines)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def write_tools(spec: Spec, state: Path, pids: list[int]) -> None:
    """Writes the programs `mpiexec` and `on-host` for the command."""
    cases = "\n".join(f"  {name}) pid={pid} ;;" for name, pid in zip(spec.names(), pids, strict=True))
    kinds = " ".join(f"--{kind}=/proc/$pid/ns/{kind}" for kind in ("net", "uts", "ipc"))
    tools = state / "bin"
    tools.mkdir()
    # on-host takes the arguments of ssh: options, a host, and words that are joined to a command line for a shell.
    on_host = f"""#!/bin/sh
while case "${{1-}}" in -*) true ;; *) false ;; esac; do shift; done
host="${{1:?name a host, and a command to run there}}"
shift
case "$host" in
{cases}
  *) echo "on-host: there is no host '$host'; there are: {" ".join(spec.names())}" >&2; exit 2 ;;
esac
folder="$PWD"
exec nsenter {kinds} --mount=/proc/$pid/ns/mnt --pid=/proc/$pid/ns/pid_for_children -- \\
  /bin/sh -c 'cd "$0" && eval "$1"' "$folder" "${{*:-exec ${{SHELL:-/bin/sh}}}}"
"""
    launcher = [sys.executable, str(PACKAGE.parent / "hosts.py"), "launch", str(state)]
    mpiexec = f'#!/bin/sh\nexec {shlex.join(launcher)} "$@"\n'
    for name, text in (("on-host", on_host), ("mpiexec", mpiexec), ("mpirun", mpiexec)):
        (tools / name).write_text(text, encoding="utf-8")
        (tools / name).chmod(0o755)


def run_command(spec: Spec, state: Path) -> int:
    """Runs the command on the head and returns its status."""
    tools = state / "bin"
    variables = {
        **environment(),
        "PATH": f"{tools}{os.pathsep}{environment()['PATH']}",
        "PLAIT_MPIEXEC": str(tools / "mpiexec"),
        "PLAIT_HOSTS": ",".join(spec.names()),
        "PLAIT_HOSTS_LOCAL": os.pathsep.join(spec.local),
    }
    try:
        process = subprocess.Popen(spec.command, env=variables)
    except OSError as error:
        print(f"hosts: {spec.command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal also signals the command, which decides how to end
    status = process.wait()
    return status if status >= 0 else 128 - status
