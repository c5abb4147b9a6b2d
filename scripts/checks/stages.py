"""The stages of the project's checks: what each runs, and how its tests are counted."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from again import settled
from counting import Failure, Outcome, check, count_junit
from running import JOBS, ROOT, Command, Environment, keep_failed, run, run_together
from sanitizers import ahead, build_commands, tree_of
from suites import threaded_sources

PRIVATE = ROOT / ".plait"
LOGS = PRIVATE / "log"
SCRATCH = Path(tempfile.mkdtemp(prefix="plait-test-"))  # run_tests.py removes it
RELEASE = Path(os.environ.get("PLAIT_RELEASE_BUILD", PRIVATE / "build" / "release"))
RANK_COUNTS = (1, 2, 3, 4, 6)


def pytest(tests: Sequence[str], log: Path, limit: float = 600, processes: int = 0) -> Outcome:
    """Runs tests in one process, or over several, so that some compute while others wait."""
    report = Path(tempfile.mkdtemp(dir=SCRATCH)) / "report.xml"
    command: list[str | Path] = [sys.executable, "-m", "pytest", "-q", "-p", "timeout", f"--junitxml={report}"]
    if processes:
        command += ["-n", str(processes), "--dist", "worksteal"]
    return count_junit(report, "pytest", run([*command, *tests], log, limit))


def pytest_folder(folder: str, log: Path, limit: float = 600, processes: int = 0) -> Outcome:
    """Runs all tests of a folder, or of one file."""
    if not (ROOT / folder).is_file() and not any((ROOT / folder).rglob("test_*.py")):
        return Outcome(reasons=[f"{folder} holds no tests"])
    return pytest([folder], log, limit, processes)


def build(log: Path, what: str = "--checks") -> Outcome:
    """Libraries, modules and C++ tests, with warnings as errors."""
    return check(f"scripts/build.sh {what}", run(["scripts/build.sh", what], log, limit=1800))


def check_format(log: Path) -> Outcome:
    """clang-format, ruff format and ruff check."""
    return check("scripts/format.sh --check", run(["scripts/format.sh", "--check"], log))


def check_types(log: Path) -> Outcome:
    """Type check of the packages and scripts, and of programs that use Plait: examples, and calls of all kinds."""
    programs = ["examples/python", *map(str, sorted((ROOT / "tests/types").glob("*.py")))]
    sources = ["python/plait", "bench/plait_bench", "scripts"]
    outcome = check("mypy", run([sys.executable, "-m", "mypy", *sources, *programs], log))
    if importlib.util.find_spec("basedpyright") is None:
        outcome.reasons.append("basedpyright did not check the programs: it is not installed; make setup installs it")
        return outcome
    outcome.add(check("basedpyright", run([sys.executable, "-m", "basedpyright", *programs], log)))
    return outcome


def check_style(log: Path) -> Outcome:
    """The project's own rules about its sources."""
    return pytest_folder("tests/style", log)


SHARDS = 4  # of a GoogleTest program for each job, so that the last ones end together


def googletest(program: Path, log: Path, prefix: Command = (), environment: Environment | None = None) -> Outcome:
    """Runs a GoogleTest program, its tests distributed over processes of which as many run as there are jobs."""
    if not program.exists():
        return Outcome(failed=1, reasons=[f"{program.relative_to(ROOT)} is not built; run scripts/test.sh build"])
    reports = [SCRATCH / f"{program.parent.name}-{program.name}-{shard}.xml" for shard in range(SHARDS * JOBS)]
    commands: list[tuple[Command, Path, Environment]] = []
    for shard, report in enumerate(reports):
        command = [*prefix, program, "--gtest_brief=1", f"--gtest_output=xml:{report}"]
        own = {"GTEST_TOTAL_SHARDS": str(len(reports)), "GTEST_SHARD_INDEX": str(shard)}
        own_log = log.with_stem(f"{log.stem}-{shard}")
        own_log.unlink(missing_ok=True)
        commands.append((command, own_log, {**(environment or {}), **own}))
    outcome = Outcome()
    for report, status in zip(reports, run_together(commands, at_once=JOBS), strict=True):
        outcome.add(count_junit(report, program.name, status))
    return outcome


def settled_googletest(
    program: Path, log: Path, prefix: Command = (), environment: Environment | None = None
) -> Outcome:
    """The same, and what failed of it once more."""

    def run_again(tests: Sequence[str]) -> Outcome:
        return googletest(program, log, prefix, {**(environment or {}), "GTEST_FILTER": ":".join(tests)})

    return settled(googletest(program, log, prefix, environment), run_again)


def c_program(
    program: Path, log: Path, prefix: Command = (), environment: Environment | None = None, ranks: int = 1
) -> Outcome:
    """Runs a program of C tests, which writes its own report."""
    if not program.exists():
        return Outcome(failed=1, reasons=[f"{program.relative_to(ROOT)} is not built; run scripts/test.sh build"])
    report = SCRATCH / f"{program.parent.name}-{program.name}-{ranks}.xml"
    name = f"{program.name} on {ranks} ranks" if ranks > 1 else program.name
    return count_junit(report, name, run([*prefix, program, f"--report={report}"], log, 300, environment))


def cpp_release(log: Path) -> Outcome:
    """The C++ tests as users get the library."""
    return settled_googletest(RELEASE / "plait_tests", log)


def build_sanitized(kind: str, log: Path, targets: Sequence[str] = ()) -> int:
    """Builds with a sanitizer in a tree of its own, as far as that is not done; returns the status."""
    ahead.stop_for(kind)
    statuses = (run(command, log, limit=900) for command in build_commands(kind, targets))
    status = next(filter(None, statuses), 0)
    ahead.go_on()
    return status


def sanitized(kind: str, log: Path, environment: Environment) -> Outcome:
    """Builds with a sanitizer and runs the C++ tests there."""
    status = build_sanitized(kind, log)
    if status:
        return check("the build", status)
    prefix: list[str] = []
    # ThreadSanitizer of older compilers cannot live with many bits of address randomisation.
    if (
        kind == "thread"
        and shutil.which("setarch")
        and subprocess.run(["setarch", "-R", "true"], check=False).returncode == 0
    ):
        prefix = ["setarch", "-R"]
    return settled_googletest(tree_of(kind) / "plait_tests", log, prefix, environment)


# Undefined behaviour ends a program by one of these, as the processor has it; AddressSanitizer then tells the line.
TRAPS = "handle_sigill=1:handle_sigtrap=1"


def cpp_address(log: Path) -> Outcome:
    """AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer."""
    options = {"ASAN_OPTIONS": f"detect_leaks=1:strict_string_checks=1:{TRAPS}"}
    outcome = sanitized("address", log, options)
    if outcome.total() > 1:  # it was built
        outcome.add(c_program(tree_of("address") / "plait_c_tests", log, environment=options))
    return outcome


FUZZ_EXECUTIONS = 2000  # of each reader; scripts/fuzz.sh runs longer


def fuzz(log: Path) -> Outcome:
    """Readers of traces and ends of pipes on changed inputs, under AddressSanitizer and UndefinedBehaviorSanitizer."""
    status = build_sanitized("address", log, ["plait_fuzz"])
    if status:
        return check("the build", status)
    program = tree_of("address") / "plait_fuzz"
    names = subprocess.run([program, "list"], capture_output=True, text=True, check=True).stdout.split()
    outcome = Outcome()
    limits = {"ASAN_OPTIONS": f"detect_leaks=1:{TRAPS}:max_allocation_size_mb=1024"}
    for name in names:
        arguments: list[str | Path] = [
            "--executions",
            str(FUZZ_EXECUTIONS),
            "--seconds",
            "60",
            "--corpus",
            ROOT / "tests/fuzz/corpus",
        ]
        outcome.add(check(f"fuzzing {name}", run([program, *arguments, name], log, 120, limits)))
    return outcome


def cpp_thread(log: Path) -> Outcome:
    """ThreadSanitizer, over the tests that use threads."""
    options = {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1"}
    outcome = sanitized("thread", log, options)
    _, others = threaded_sources(ROOT / "tests/cpp")
    if others:
        outcome.reasons.append(f"left out, because they use no threads: {', '.join(others)}")
    return outcome


def c_tests(log: Path) -> Outcome:
    """The C interface: C11 programs in one process and on several ranks."""
    outcome = c_program(RELEASE / "plait_c_tests", log)
    if shutil.which("mpiexec") is None or not (RELEASE / "plait_c_mpi_tests").exists():
        outcome.reasons.append("the C tests on several ranks did not run: there is no mpiexec, or no MPI was built")
        return outcome
    for ranks in RANK_COUNTS:
        launch = ["mpiexec", "-n", str(ranks)]
        outcome.add(c_program(RELEASE / "plait_c_mpi_tests", log, launch, mpi_environment(), ranks))
    apart = {**mpi_environment(), "PLAIT_NODE_SIZE": "2"}  # across nodes, as far as one machine can show it
    outcome.add(c_program(RELEASE / "plait_c_mpi_tests", log, ["mpiexec", "-n", "4"], apart, 4))
    return outcome


def install_tests(log: Path) -> Outcome:
    """Plait installed for MPICH and for Open MPI, and programs built against it."""
    return pytest_folder("tests/install", log, limit=1200)


def python_tests(log: Path) -> Outcome:
    """The Python tests, over more processes than there are jobs: many wait for programs, clocks and networks."""
    outcome = pytest_folder("tests/python", log, limit=1800, processes=2 * JOBS)
    return settled(outcome, lambda tests: pytest(tests, log))


def mpi_environment() -> Environment:
    """One thread a rank; more ranks than cores and the superuser are welcome (Open MPI asks for both to be said)."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMPI_ALLOW_RUN_AS_ROOT")
    return {
        **dict.fromkeys(names, "1"),
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }


def mpi_pytest(
    ranks: int, log: Path, prefix: Command = (), tests: Sequence[str] = ("tests/mpi",), where: str = ""
) -> Outcome:
    """The Python MPI tests on so many ranks, counted as rank 0 wrote them down."""
    logs = Path(tempfile.mkdtemp(prefix=f"mpi-{ranks}-", dir=SCRATCH))
    results = logs / "results.jsonl"
    launch: Command = ["mpiexec", "-n", str(ranks), sys.executable, "scripts/mpi_pytest.py", results, logs]
    status = run([*prefix, *launch, "-q", "-p", "timeout", *tests], log, 300, mpi_environment())
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    outcome = Outcome()
    for test in {test["test"]: test for test in map(json.loads, lines)}.values():
        setattr(outcome, test["outcome"], getattr(outcome, test["outcome"]) + 1)
        if test["outcome"] == "skipped":
            outcome.skips[test["reason"] or "no reason given"] += 1
        elif test["outcome"] == "failed":
            reason = f"{ranks} ranks{where}, {test['test']}: {test['reason']}"
            outcome.failures.append(Failure(test["test"], reason))
    if status > 1 or (status and not outcome.failed):  # pytest says 1 where tests failed and all were run
        outcome.add(check(f"mpiexec -n {ranks} pytest{where}", status))
    if status:
        for other in sorted(logs.glob("rank-*.log")):
            keep_failed(other.read_bytes(), f"--- {other.stem}\n")
    return outcome


def settled_mpi_pytest(
    ranks: int, log: Path, prefix: Command = (), tests: Sequence[str] = ("tests/mpi",), where: str = ""
) -> Outcome:
    """The same, and what failed of it once more."""
    outcome = mpi_pytest(ranks, log, prefix, tests, where)
    return settled(outcome, lambda failed: mpi_pytest(ranks, log, prefix, failed, where))


def mpi_googletest(ranks: int, log: Path, prefix: Command = ()) -> Outcome:
    """The C++ MPI tests on so many ranks; rank 0 writes the report."""
    program = RELEASE / "plait_mpi_tests"
    report = Path(tempfile.mkdtemp(dir=SCRATCH)) / "report.xml"
    command: list[str | Path] = [
        *prefix,
        "mpiexec",
        "-n",
        "1",
        program,
        "--gtest_brief=1",
        f"--gtest_output=xml:{report}",
    ]
    if ranks > 1:
        command += [":", "-n", str(ranks - 1), program, "--gtest_brief=1"]
    return count_junit(report, f"mpiexec -n {ranks} plait_mpi_tests", run(command, log, 300, mpi_environment()))


def mpi_tests(log: Path) -> Outcome:
    """Every MPI test on several numbers of ranks."""
    if shutil.which("mpiexec") is None:
        return Outcome(reasons=["no mpiexec was found"], may_be_empty=True)
    outcome = Outcome()
    for ranks in RANK_COUNTS:
        if any((ROOT / "tests/mpi").rglob("test_*.py")):
            outcome.add(settled_mpi_pytest(ranks, log))
        if (RELEASE / "plait_mpi_tests").exists():
            outcome.add(mpi_googletest(ranks, log))
    if not outcome.total():
        outcome.reasons.append("tests/mpi holds no tests")
    return outcome


# Which of tests/mpi also run on the larger number of hosts: those that say more of the network than of the rest.
BETWEEN_HOSTS = (
    "distant",
    "hosts",
    "nodes",
    "redistribute",
    "redistribution_plans",
    "shared_files",
    "streams",
    "stripes",
)


def hosts_tests(log: Path) -> Outcome:
    """The MPI tests on several hosts, which are network namespaces of this machine."""
    hosts: Command = [sys.executable, "scripts/hosts.py"]
    checked = subprocess.run([*hosts, "check"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    missing = re.findall(r"^no hosts here: .*|^launcher +no: .*", checked, re.MULTILINE)
    if missing:
        return Outcome(reasons=[f"the MPI tests on several hosts did not run: {missing[0]}"], may_be_empty=True)
    outcome = Outcome()
    chosen = [str(path) for name in BETWEEN_HOSTS for path in Path("tests/mpi").rglob(f"test_mpi_{name}.py")]
    for number, ranks, place, tests in ((2, 4, "block", ["tests/mpi"]), (3, 6, "cyclic", chosen)):
        prefix: Command = [*hosts, "exec", "--hosts", str(number), "--place", place, "--"]
        outcome.add(settled_mpi_pytest(ranks, log, prefix, tests, f" on {number} hosts"))
        if (RELEASE / "plait_mpi_tests").exists():
            outcome.add(mpi_googletest(ranks, log, prefix))
        if (RELEASE / "plait_c_mpi_tests").exists():
            launch: Command = [*prefix, "mpiexec", "-n", str(ranks)]
            outcome.add(c_program(RELEASE / "plait_c_mpi_tests", log, launch, mpi_environment(), ranks))
    return outcome


STAGES: dict[str, Callable[[Path], Outcome]] = {
    "build": build,
    "format": check_format,
    "types": check_types,
    "style": check_style,
    "cpp": cpp_release,
    "c": c_tests,
    "python": python_tests,
    "mpi": mpi_tests,
    "hosts": hosts_tests,
    "install": install_tests,
    "cpp-address": cpp_address,
    "fuzz": fuzz,
    "cpp-thread": cpp_thread,
}
# What is built ahead for a stage while those before it run.
BUILT_AHEAD = {"cpp-address": "address", "cpp-thread": "thread"}
# While these run nothing is built ahead.
MANY_RANKS = ("c", "mpi", "hosts")
NEED_THE_BUILD = ("cpp", "c", "python", "mpi", "hosts")
