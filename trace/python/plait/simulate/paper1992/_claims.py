"""The statements of the paper about its simulations, compared with replays.

The paper traced the programs bvi, ccm, forma, gcm, les, upw and venus on a Cray.  Each function here that returns a
Claim replays some of them and compares one statement.  "Two venus" are two copies of venus that start together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from plait.simulate._result import Result
from plait.simulate.paper1992._runs import IDLE, PAIR, PROGRAMS, SIZES, Runs

_FULLY_USED = 0.99  # utilization; "utilized the CPU over 99%"
_WHY_FORMA = "table 1 gives forma 30 MB of data, which 256 MB hold; what kept it waiting is not in the paper"
_WHY_NOT_FALLING = (
    "the copies go through 110 MB in turn, so that below that LRU holds nothing until it is read again; how long both "
    "wait at once then depends on how they fall into step more than on the size"
)


@dataclass(frozen=True)
class Claim:
    """One statement of the paper, with the prediction.

    fitted   True if the open number was fitted to it
    holds    True if the prediction agrees with the paper
    reason   the reason of a disagreement; otherwise a further remark
    """

    name: str
    paper: str
    predicted: str
    holds: bool
    fitted: bool = False
    reason: str = ""


def make_claims(runs: Runs, fitted: Result, position: float) -> Iterator[Claim]:
    """Yield the claims in the order of the paper."""
    yield Claim(
        "idle time without write-behind: two venus, 128 MB",
        f"{IDLE:.0f} s",
        f"{fitted.idle:.0f} s",
        abs(fitted.idle - IDLE) < 5,
        fitted=True,
        reason=f"position time fitted: {1e3 * position:.1f} ms; the paper says that a request takes up to about 15 ms",
    )
    for make_claim in (
        _write_behind,
        _no_idle,
        _figure6,
        _figure7,
        _figure8,
        _small_cache,
        _gcm,
        _upw,
        _les,
        _ssd,
        _forma,
    ):
        yield make_claim(runs)
    for make_claim in (_venus_gain, _venus_gain_small, _limits, _lock_step, _in_memory, _staging):
        yield make_claim(runs)


def _write_behind(runs: Runs) -> Claim:
    idle = runs.get(PAIR, cache=128).idle
    return Claim("idle time with write-behind: two venus, 128 MB", "1 s", f"{idle:.2g} s", idle <= 2)


def _no_idle(runs: Runs) -> Claim:
    replay = runs.get(PAIR, cache=128)
    busy = replay["computing"] + replay["system"] + replay["interrupts"]
    return Claim(
        "execution time without idle time: two venus",
        "761 s",
        f"{busy:.0f} s",
        abs(busy / 761 - 1) < 0.01,
        reason="758 s of computing; costs of switches, calls and interrupts are open in the paper",
    )


def peak_over_mean(replay: Result, *series: str, seconds: float = 200.0) -> float:
    """Return the largest rate of any second, divided by the mean rate."""
    rates: dict[int, int] = {}
    for name in series:
        interval, sums = replay["series"][name]["interval"], replay["series"][name]["sums"]
        for k, amount in enumerate(sums):
            if interval * k < seconds:
                rates[int(interval * k)] = rates.get(int(interval * k), 0) + amount
    span = min(seconds, replay.elapsed)
    mean = sum(rates.values()) / span
    return max(rates.values(), default=0) / mean if mean else 0.0


def _figure6(runs: Runs) -> Claim:
    replay = runs.get(PAIR, cache=32)
    ratio = peak_over_mean(replay, "device_read", "device_write")
    return Claim(
        "figure 6: the disks' rate stays bursty (two venus, 32 MB)",
        "bursts are not smoothed",
        f"highest rate of a second {ratio:.1f} times the mean",
        ratio > 1.5,
    )


def _figure7(runs: Runs) -> Claim:
    replay = runs.get(PAIR, cache=128)
    read = sum(use["read_bytes"] for use in replay["devices"])
    total = sum(process["read_bytes"] for process in replay["processes"])
    ratio = peak_over_mean(replay, "device_write")
    return Claim(
        "figure 7: few disk reads, bursts of writes (two venus, 128 MB)",
        "almost no reads; writes in bursts",
        f"{100 * read / total:.1f} % of bytes read come from disk; highest rate of writes {ratio:.1f} times the mean",
        read / total < 0.02 and ratio > 1.5,
    )


def _figure8(runs: Runs) -> Claim:
    idle = [runs.get(PAIR, cache=size).idle for size in SIZES]
    # Differences of about a second arise because the two copies drift in and out of phase.
    falls = all(after <= before + max(2.0, 0.03 * before) for before, after in pairwise(idle))
    listed = ", ".join(f"{size} MB {idle_seconds:.0f} s" for size, idle_seconds in zip(SIZES, idle, strict=True))
    return Claim(
        "figure 8: idle time falls with the size of the cache (two venus)",
        "falls to almost none",
        listed,
        falls and idle[-1] < 2,
        reason="" if falls else _WHY_NOT_FALLING,
    )


def _small_cache(runs: Runs) -> Claim:
    utilizations = {name: runs.get(f"workload:{name}", cache=32).utilization for name in PROGRAMS}
    waiting = [name for name in ("bvi", "ccm", "forma", "venus") if utilizations[name] < _FULLY_USED]
    return Claim(
        "a 4 MW (32 MB) cache does not keep most I/O-intensive programs from waiting",
        "most wait",
        ", ".join(f"{name} {100 * utilizations[name]:.1f} %" for name in PROGRAMS) + " used",
        len(waiting) >= 3,
        reason=_why_small(waiting),
    )


def _why_small(waiting: list[str]) -> str:
    fitting = [name for name in ("ccm", "forma") if name not in waiting]
    if not fitting:
        return ""
    return (
        f"the data of {' and '.join(fitting)} (12 and 30 MB in table 1) fits into 32 MB, so that after the first pass "
        "nothing is left to wait for"
    )


def _gcm(runs: Runs) -> Claim:
    idle = runs.get("workload:gcm", cache=8).idle
    return Claim(
        "gcm in an 8 MB cache",
        "1 s idle",
        f"{idle:.1f} s idle",
        idle < 5,
        reason="" if idle < 5 else "its last requests come close together and find the cache full of dirty blocks",
    )


def _upw(runs: Runs) -> Claim:
    idle = max(runs.get("workload:upw", cache=size).idle for size in (8, 32, 128))
    return Claim("upw idles little in all runs", "low", f"{idle:.1f} s at most", idle < 6)


def _les(runs: Runs) -> Claim:
    with_cache = runs.get("workload:les", cache=32).utilization
    with_ssd = runs.ssd("workload:les").utilization
    return Claim(
        "les runs with little idle time on main memory and SSD alike, since it is asynchronous",
        "near full",
        f"{100 * with_cache:.1f} % used with 32 MB, {100 * with_ssd:.1f} % with the SSD",
        min(with_cache, with_ssd) > 0.98,
    )


def _ssd(runs: Runs) -> Claim:
    utilizations = {name: runs.ssd(f"workload:{name}").utilization for name in PROGRAMS}
    not_fully_used = [name for name in PROGRAMS if utilizations[name] <= _FULLY_USED]
    return Claim(
        "a 32 MW (256 MB) SSD: all programs but one use over 99 %",
        "all but one",
        ", ".join(f"{name} {100 * utilizations[name]:.2f} %" for name in PROGRAMS),
        len(not_fully_used) <= 1,
    )


def _forma(runs: Runs) -> Claim:
    utilization = runs.ssd("workload:forma").utilization
    return Claim(
        "which one does not: forma, since the text calls the six others low",
        "below 99 %",
        f"{100 * utilization:.2f} %",
        utilization <= _FULLY_USED,
        reason="" if utilization <= _FULLY_USED else _WHY_FORMA,
    )


def _compare_gains(runs: Runs, size: int) -> tuple[bool, str]:
    """Return whether write-behind reduces the idle time more than read-ahead, with the idle times as text."""
    none, ahead, behind, both = (
        runs.get(PAIR, cache=size, read_ahead=read_ahead, write=write).idle
        for write in ("through", "behind")
        for read_ahead in ("none", "same-size")
    )
    text = f"idle: neither {none:.0f} s, prefetching {ahead:.0f} s, write-behind {behind:.0f} s, both {both:.0f} s"
    return behind < ahead, text


def _venus_gain(runs: Runs) -> Claim:
    holds, text = _compare_gains(runs, 128)
    return Claim("venus gains more from write-behind than from prefetching: 128 MB", "write-behind more", text, holds)


def _venus_gain_small(runs: Runs) -> Claim:
    holds, text = _compare_gains(runs, 32)
    reason = (
        "32 MB hold nothing until it is read again, so that reads wait for the disk too, and venus reads twice a write"
    )
    return Claim(
        "the same with 32 MB; the paper does not say for which sizes",
        "write-behind more",
        text,
        holds,
        reason="" if holds else reason,
    )


def _limits(runs: Runs) -> Claim:
    cases = ((PAIR, 32), (PAIR, 64), (("workload:venus", "workload:les"), 32), (("workload:venus", "workload:les"), 64))
    elapsed_times = []
    for traces, size in cases:
        without_limit = runs.get(traces, cache=size).elapsed
        with_limit = runs.get(traces, cache=size, process_limit=(size << 20) // 2).elapsed
        elapsed_times.append((without_limit, with_limit))
    worse = sum(with_limit > 1.001 * without_limit for without_limit, with_limit in elapsed_times)
    better = sum(with_limit < 0.999 * without_limit for without_limit, with_limit in elapsed_times)
    no_relief = sum(with_limit for _, with_limit in elapsed_times) >= sum(
        without_limit for without_limit, _ in elapsed_times
    )
    return Claim(
        "a limit on the buffers of a process does not help",
        "no relief, worse in several cases",
        "; ".join(
            f"{'two venus' if traces == PAIR else 'venus and les'}, {size} MB: {without_limit:.0f} s, held to half "
            f"{with_limit:.0f} s"
            for (traces, size), (without_limit, with_limit) in zip(cases, elapsed_times, strict=True)
        ),
        no_relief and worse >= 2,
        reason=f"shorter in {better} of {len(elapsed_times)} cases, longer in {worse}, longer on the whole"
        if better
        else "",
    )


def _lock_step(runs: Runs) -> Claim:
    replay = runs.get(PAIR, cache=32)
    shares = [process["waiting"] / replay.elapsed for process in replay["processes"]]
    expected = shares[0] * shares[1]  # share of time in which both wait, if they wait independently of each other
    both_wait = replay.idle / replay.elapsed
    return Claim(
        "two programs fall into step, so that both wait at once",
        "bunching",
        f"both wait {100 * both_wait:.1f} % of the time; {100 * expected:.1f} % if they did so independently",
        both_wait > expected,
    )


def _utilization(runs: Runs, name: str, jobs: int) -> float:
    """Return the share of processor time that copies of a program use that start together."""
    return runs.get(f"workload:{name}?copies={jobs}&offset=0", cache=32).utilization


def _in_memory(runs: Runs) -> Claim:
    utilization = _utilization(runs, "gcm", 2)
    return Claim(
        "n + 1 jobs that fit into memory keep n processors busy (n = 1, gcm)",
        "yes",
        f"{100 * utilization:.2f} % used",
        utilization > _FULLY_USED,
    )


def _staging(runs: Runs) -> Claim:
    utilization = _utilization(runs, "venus", 2)
    return Claim(
        "n + 1 jobs that stage their data do not (n = 1, venus, 32 MB)",
        "no",
        f"{100 * utilization:.2f} % used",
        utilization < _FULLY_USED,
    )
