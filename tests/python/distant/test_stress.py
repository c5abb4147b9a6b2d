"""Distant and shared files with random readers and writers on several hosts, and their behavior after failures.

Each run has a new seed.  A failure prints its command; tests/stress/storm.py repeats the run with it.
"""

import itertools
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from compiling import compile_program
from several_hosts_here import HOSTS, hosts_script_output, needs_hosts_and_mpi, skip_without

STRESS = Path(__file__).parents[2] / "stress"
STORM = STRESS / "storm.py"
# The shell outlives its rank: if a rank ended or was killed, the launcher would kill the remaining ranks.
OUTLIVE = ["sh", "-c", '"$@"; sleep 100', "sh"]
needs_disks = skip_without("disk sizes")


class Job:
    """One run of the stress program.

    host_options  of scripts/hosts.py
    outlive       whether a shell keeps running after each rank, so that the launcher does not kill the other ranks
    before        command that precedes the program, such as that of a firewall
    """

    def __init__(self, folder, hosts, ranks, options, host_options=(), outlive=False, before=()):
        self.report = folder / "report"
        self.report.mkdir()
        program = [sys.executable, STORM, "--seed", random.randrange(1 << 30), "--report", self.report, *options]
        launch = [sys.executable, HOSTS, "run", "--hosts", hosts, "--ranks", ranks, *host_options, "--"]
        if not isinstance(ranks, int):  # one job after the other on the same hosts
            loop = f'for ranks in {" ".join(map(str, ranks))}; do mpiexec -n "$ranks" "$@"; done'
            launch = [sys.executable, HOSTS, "exec", "--hosts", hosts, *host_options, "--", "sh", "-euc", loop, "sh"]
        self.command = [str(word) for word in [*launch, *(OUTLIVE if outlive else []), *before, *program]]
        self.output = (folder / "output").open("w+")
        streams = {"stdin": subprocess.DEVNULL, "stdout": self.output, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(self.command, **streams)

    def reports(self):
        """Return the text of each report, by its name."""
        return {path.name: path.read_text() for path in self.report.iterdir()}

    def check(self, ranks, seconds=400):
        """Wait until these ranks have reported success, and return all reports."""
        expected = {f"done-{rank}" for rank in ranks}
        limit = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < limit and not set(self.reports()) >= expected:
            if self.has_crashed():
                time.sleep(5)  # the other ranks may be about to end
                break
            time.sleep(0.02)
        self.end()
        assert set(self.reports()) == expected, self.describe()
        return self.reports()

    def has_crashed(self):
        return "Segmentation fault" in Path(self.output.name).read_text()

    def describe(self):
        """Return the command, the reports and the output, for the message of a failure."""
        self.output.seek(0)
        return f"{' '.join(self.command)}\n{self.reports()}\n{self.output.read()}"

    def end(self):
        """Terminate the job if it is running."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait()


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a job, which ends with the test."""
    jobs = []

    def begin(*arguments, **options):
        folder = tmp_path / str(len(jobs))
        folder.mkdir()
        jobs.append(Job(folder, *arguments, **options))
        return jobs[-1]

    yield begin
    for job in jobs:
        job.end()
        job.output.close()


@needs_hosts_and_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("hosts", "place", "ranks"), [(1, "block", (1, 2, 3, 4, 6)), (2, "block", (2, 3, 4, 6)), (3, "cyclic", (3, 4, 6))]
)
def test_random_accesses_succeed_on_any_number_of_ranks_and_hosts(start, hosts, place, ranks, effort):
    ranks = effort.choose((3,), ranks)
    job = start(hosts, ranks, ["--phases", effort.choose(1, 2)], ["--place", place])
    status = job.process.wait(600)
    assert status == 0, job.describe()
    assert set(job.reports()) == {f"done-{rank}" for rank in range(max(ranks))}


@needs_hosts_and_mpi
@pytest.mark.long
def test_delayed_links_change_no_result(start):
    start(3, 4, ["--phases", 2, "--operations", 8], ["--delay", "3ms"]).check(range(4))


@needs_disks
@pytest.mark.long
def test_only_the_writer_gets_the_error_of_a_full_disk(start):
    """Acknowledged data stays, the other ranks continue, and writes succeed again after files are removed."""
    output = start(2, 3, ["--full", "--operations", 10], ["--disk-size", "8MB"]).check(range(3))
    assert any(not text.split(" checked, ")[1].startswith("0 ") for text in output.values()), output


def check_survivors(start, hosts, ranks, jobs, survivors):
    """Check that the survivors of each job report success.  The jobs run at the same time: they mostly wait."""
    for job in [start(hosts, ranks, options, outlive=True) for options in jobs]:
        job.check(survivors)


@needs_hosts_and_mpi
@pytest.mark.long
def test_survivors_report_a_killed_rank(start):
    hosts, ranks = 3, 4
    victim = random.randrange(ranks)
    jobs = [["--kind", kind, "--fault", "kill", "--victim", victim] for kind in ("distant", "shared")]
    check_survivors(start, hosts, ranks, jobs, set(range(ranks)) - {victim})


@needs_hosts_and_mpi
@pytest.mark.long
def test_stopped_ranks_and_interrupted_links_continue(start):
    """Stop a rank, and interrupt the link of a host for some seconds."""
    options = ["--kind", "shared", "--phases", 2, "--first", "--fault"]
    for job in [start(2, 3, [*options, fault]) for fault in ("stop", "flap")]:
        output = job.check(range(3))
        assert all(", 0 failures reported" in text for text in output.values()), output
        assert any(float(text.split()[-2]) > 1 for text in output.values()), output


@needs_hosts_and_mpi
@pytest.mark.long
def test_a_lost_host_is_an_error_within_half_a_minute(start):
    """This also holds if no rank had called the host before and MPI lost it long ago; both sides continue."""
    cut = ["--fault", "cut", "--victim", 2]
    kinds = (["--kind", "distant"], ["--kind", "distant", "--first"], ["--kind", "shared", "--first"])
    called_late = ["--kind", "distant", "--first", "--rest", 25, "--phases", 1]
    check_survivors(start, 3, 4, [[*called_late, *cut], *([*kind, *cut, "--phases", 2] for kind in kinds)], range(4))


@pytest.fixture
def behind_firewall(tmp_path):
    """Return a function that makes the command of a rank whose sockets reach no other host.

    code       the error of connections to other hosts
    condition  shell command that fails on ranks without the firewall
    """

    def make_command(code, condition="true"):
        folder = tmp_path / code
        folder.mkdir(exist_ok=True)
        library = compile_program(folder, STRESS / "firewall.c", "-shared", "-fPIC", f"-DBLOCKED={code}", "-ldl")
        return ["sh", "-c", f'if {condition}; then export LD_PRELOAD={library}; fi; exec "$@"', "sh"]

    return make_command


# All ranks read from each other; MPI messages still pass the firewall.
APART = """
import time
import plait
from mpi4py import MPI
from plait import distant

comm = MPI.COMM_WORLD
with distant.open(f"/var/tmp/apart-{comm.rank}", "w", comm=comm, temporary=True) as file:
    file.write(0, b"here", comm.rank)
    comm.Barrier()
    results = []
    for other in range(comm.size):
        begin = time.monotonic()
        try:
            found = file.read(0, 4, other).tobytes() == b"here"
            results.append("found" if found else "wrong")
        except plait.StoreError as error:
            assert f"rank {other} on host " in str(error), error
            assert "hosts have to let each other's TCP connections in" in str(error), error
            assert time.monotonic() - begin < 90
            results.append("apart")
    comm.Barrier()
    time.sleep(SECONDS if comm.rank == 0 else 0)  # ranks that wait for it do not consider it lost
print(comm.gather(results))
"""


@needs_hosts_and_mpi
def test_a_firewall_that_admits_only_mpi(behind_firewall, effort):
    """Calls between hosts fail with a reason; calls within a host and collective calls succeed."""
    # What ranks 0 and 1 on host 0, and rank 2 on host 1, find on ranks 0, 1 and 2.
    on_host_0, on_host_1, unblocked = ["found", "found", "apart"], ["apart", "apart", "found"], ["found"] * 3
    expected = {"true": [on_host_0, on_host_0, on_host_1], '[ "$PMI_RANK" = 0 ]': [on_host_0, unblocked, unblocked]}
    cases = effort.sample(list(itertools.product(("EHOSTUNREACH", "ECONNREFUSED"), expected)), 1)
    program = APART.replace("SECONDS", str(effort.choose(0, 12)))
    jobs = [["--", *behind_firewall(*case), sys.executable, "-c", program] for case in cases]
    with ThreadPoolExecutor(len(jobs)) as pool:  # the jobs mostly wait
        outputs = list(
            pool.map(lambda job: hosts_script_output("run", "--hosts", 2, "--ranks", 3, *job, seconds=400), jobs)
        )
    for (code, condition), output in zip(cases, outputs, strict=True):
        assert str(expected[condition]) in output, (code, condition)
