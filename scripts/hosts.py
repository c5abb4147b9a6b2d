#!/usr/bin/env python3
"""Makes hosts with networks, names and disks of their own on this machine, and runs MPI programs across them.

The hosts are kernel namespaces, which end with the command even if it is killed.  docs/guides/hosts.md describes them.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from several_hosts import head, launch, needs, spec
from several_hosts.state import new_state

GRACE_SECONDS = 10
INTERRUPT_SECONDS = 2


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    top = argparse.ArgumentParser(prog="hosts.py", description=(__doc__ or "").split("\n\n")[0])
    commands = top.add_subparsers(dest="what", required=True)
    commands.add_parser("check", help="say what this machine allows, and what is missing")
    run = commands.add_parser("run", help="run an MPI program across hosts")
    run.add_argument("--ranks", type=int, help="how many ranks; default: one a host")
    execute = commands.add_parser("exec", help="run a command whose mpiexec starts ranks on the hosts")
    for command in (run, execute):
        command.add_argument("--hosts", type=int, default=2, help="how many hosts; default: 2")
        command.add_argument(
            "--place",
            choices=("block", "cyclic"),
            default="block",
            help="fill the hosts one after the other (default), or distribute the ranks in turn",
        )
        command.add_argument("--link", type=spec.link_rate, default=0, help="rate of each host's link, as in 100mbit")
        command.add_argument("--delay", type=spec.seconds, default=0.0, help="from host to host, as in 100us")
        command.add_argument("--disk", type=spec.disk_rate, default=0, help="rate of each host's disk, as in 50MB/s")
        command.add_argument("--disk-size", type=spec.size, default=0, help="size of each host's disk, as in 64MB")
        command.add_argument(
            "--local",
            action="append",
            help=f"a folder that is each host's own, on its disk; default: {spec.LOCAL}",
        )
        command.add_argument(
            "--shared", action="append", default=[], help="a folder below a local one that all hosts share"
        )
        command.add_argument("command", nargs="+", metavar="PROGRAM", help="what to run, behind --")
    return top


def make_spec(arguments: argparse.Namespace) -> spec.Spec:
    """Returns the requested hosts.

    errors  ValueError: an invalid request
    """
    if not 1 <= arguments.hosts <= spec.MAX_HOSTS:
        raise ValueError(f"--hosts is {arguments.hosts}; expected 1 to {spec.MAX_HOSTS}")
    command = arguments.command
    if arguments.what == "run":
        ranks = arguments.hosts if arguments.ranks is None else arguments.ranks
        if ranks < 1:
            raise ValueError(f"--ranks is {ranks}; expected 1 or more")
        command = ["mpiexec", "-n", str(ranks), *command]
    local = arguments.local or [spec.LOCAL]
    for folder in [*local, *arguments.shared]:
        if not Path(folder).is_dir():
            raise ValueError(f"'{folder}' is not a folder")
    names = ("hosts", "place", "link", "delay", "disk", "disk_size", "shared")
    options = {name: getattr(arguments, name) for name in names}
    return spec.Spec(local=local, command=command, launcher=launch.find_launcher(), **options)


def find_obstacle(hosts: spec.Spec) -> str | None:
    """Returns why this machine cannot have such hosts; None if it can."""
    reason = needs.find_obstacle_to_hosts()
    if reason is not None:
        return reason
    for option, requested, missing in (
        ("--link", hosts.link, needs.find_obstacle_to_links),
        ("--delay", hosts.delay, needs.find_obstacle_to_delays),
        ("--disk", hosts.disk, lambda: needs.find_obstacle_to_disks(limited=True)),
        ("--disk-size", hosts.disk_size, lambda: needs.find_obstacle_to_disks(limited=False)),
    ):
        if requested and (reason := missing()) is not None:
            return f"{option} cannot be had here: {reason}"
    return None


def run(hosts: spec.Spec) -> int:
    """Makes the hosts and runs the command there; returns its status."""
    with new_state() as state:
        hosts.save(state / "spec.json")
        # The head process reads a pipe whose write end only this process has, and ends when this process ends.
        read_end, write_end = os.pipe()
        os.set_inheritable(read_end, True)
        inner = [sys.executable, __file__, "head", str(state), str(read_end)]
        process = subprocess.Popen([*needs.new_namespaces(), *inner], env=needs.environment(), pass_fds=[read_end])
        os.close(read_end)
        try:
            status = process.wait()
        except KeyboardInterrupt:
            # The terminal has sent SIGINT to the command too; give the command time to end by itself.
            with suppress(subprocess.TimeoutExpired):
                process.wait(INTERRUPT_SECONDS)
            raise
        finally:
            os.close(write_end)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    return status if status >= 0 else 128 - status


def main() -> int:
    """Runs the command line; returns 2 if that is not possible."""
    # Internal subcommands, which this program runs in further processes.
    internal = {"head": lambda: head.main(Path(sys.argv[2]), int(sys.argv[3]))}
    internal["launch"] = lambda: launch.main(Path(sys.argv[2]), sys.argv[3:])
    if sys.argv[1:2] and sys.argv[1] in internal:
        try:
            return internal[sys.argv[1]]()
        except (OSError, RuntimeError) as error:
            print(f"hosts: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
    arguments = make_parser().parse_args()
    if arguments.what == "check":
        return check()
    try:
        hosts = make_spec(arguments)
    except ValueError as error:
        print(f"hosts: {error}", file=sys.stderr)
        return 2
    reason = find_obstacle(hosts)
    if reason is not None:
        print(f"hosts: {reason}", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        return run(hosts)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def check() -> int:
    """Prints the capabilities of this machine; returns 1 if it permits no hosts."""
    reason = needs.find_obstacle_to_hosts()
    if reason is not None:
        print(f"no hosts here: {reason}")
        return 1
    for what, missing in (
        ("hosts", None),
        ("launcher", launch.find_obstacle_to_launcher(launch.find_launcher())),
        ("link rates", needs.find_obstacle_to_links()),
        ("link delays", needs.find_obstacle_to_delays()),
        ("disk sizes", needs.find_obstacle_to_disks(limited=False)),
        ("disk rates", needs.find_obstacle_to_disks(limited=True)),
    ):
        print(f"{what:<13}{'yes' if missing is None else 'no: ' + missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
