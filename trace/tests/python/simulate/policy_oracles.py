"""A second implementation of the replacement policies, from their papers: lists of keys with linear searches.

Each function returns, for each key, whether it was in the cache. It shares no code with the tested implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Key = Hashable
Oracle = Callable[[Sequence[Key], int], list[bool]]
Item = TypeVar("Item")


def lru(keys: Sequence[Key], slots: int) -> list[bool]:
    """Keep the blocks of the cache in a list, the last used one at the end."""
    cache: list[Key] = []
    hits = []
    for key in keys:
        hits.append(key in cache)
        if key in cache:
            cache.remove(key)
        elif len(cache) == slots:
            cache.pop(0)
        cache.append(key)
    return hits


def fifo(keys: Sequence[Key], slots: int) -> list[bool]:
    """Keep the newest block at the end."""
    cache: list[Key] = []
    hits = []
    for key in keys:
        hits.append(key in cache)
        if key not in cache:
            if len(cache) == slots:
                cache.pop(0)
            cache.append(key)
    return hits


def clock(keys: Sequence[Key], slots: int) -> list[bool]:
    """Keep a ring of pages and a hand that points to one of them; a new page replaces the removed page."""
    ring: list[Key] = []
    used: list[bool] = []
    hand = 0
    hits = []
    for key in keys:
        hits.append(key in ring)
        if key in ring:
            used[ring.index(key)] = True
        elif len(ring) < slots:
            ring.append(key)
            used.append(False)
        else:
            while used[hand]:
                used[hand] = False
                hand = (hand + 1) % slots
            ring[hand], used[hand] = key, False
            hand = (hand + 1) % slots
    return hits


def lfu(keys: Sequence[Key], slots: int) -> list[bool]:
    """Keep the number of uses and the time of the last use of each block in the cache."""
    uses: dict[Key, tuple[int, int]] = {}
    hits = []
    for time, key in enumerate(keys):
        hits.append(key in uses)
        if key in uses:
            uses[key] = (uses[key][0] + 1, time)
            continue
        if len(uses) == slots:
            del uses[min(uses, key=lambda key: uses[key])]
        uses[key] = (1, time)
    return hits


def two_queues(keys: Sequence[Key], slots: int, k_in: int, k_out: int) -> list[bool]:
    """Follow Johnson and Shasha, section 2.3; queues have their heads at the list end."""
    a1_in: list[Key] = []
    a1_out: list[Key] = []
    am: list[Key] = []

    def reclaim() -> None:
        if len(a1_in) + len(am) < slots:
            return
        if len(a1_in) > k_in or not am:
            a1_out.append(a1_in.pop(0))
            if len(a1_out) > k_out:
                a1_out.pop(0)
        else:
            am.pop(0)

    hits = []
    for key in keys:
        hits.append(key in am or key in a1_in)
        if key in am:
            am.remove(key)
            am.append(key)
        elif key in a1_out:
            a1_out.remove(key)
            reclaim()
            am.append(key)
        elif key not in a1_in:
            reclaim()
            a1_in.append(key)
    return hits


def arc(keys: Sequence[Key], slots: int) -> list[bool]:
    """Follow Megiddo and Modha, figure 4, with its names t1, t2, b1, b2; the most recently used key is last."""
    capacity = slots
    target_t1 = 0.0
    t1: list[Key] = []
    t2: list[Key] = []
    b1: list[Key] = []
    b2: list[Key] = []

    def replace(key: Key) -> None:
        if t1 and (len(t1) > target_t1 or (key in b2 and len(t1) == target_t1)):
            b1.append(t1.pop(0))
        else:
            b2.append(t2.pop(0))

    hits = []
    for key in keys:
        hits.append(key in t1 or key in t2)
        if key in t1 or key in t2:
            (t1 if key in t1 else t2).remove(key)
            t2.append(key)
        elif key in b1:
            target_t1 = min(target_t1 + (1 if len(b1) >= len(b2) else len(b2) / len(b1)), capacity)
            replace(key)
            b1.remove(key)
            t2.append(key)
        elif key in b2:
            target_t1 = max(target_t1 - (1 if len(b2) >= len(b1) else len(b1) / len(b2)), 0)
            replace(key)
            b2.remove(key)
            t2.append(key)
        else:
            total = len(t1) + len(t2) + len(b1) + len(b2)
            if len(t1) + len(b1) == capacity:
                if len(t1) < capacity:
                    b1.pop(0)
                    replace(key)
                else:
                    t1.pop(0)
            elif total >= capacity:
                if total == 2 * capacity:
                    b2.pop(0)
                replace(key)
            t1.append(key)
    return hits


def sieve(keys: Sequence[Key], slots: int) -> list[bool]:
    """Follow Zhang and others, algorithm 1; the head of the queue is at the list start."""
    queue: list[Key] = []
    visited: dict[Key, bool] = {}
    hand: Key | None = None
    hits = []
    for key in keys:
        hits.append(key in visited)
        if key in visited:
            visited[key] = True
            continue
        if len(queue) == slots:
            position = len(queue) - 1 if hand is None else queue.index(hand)
            while visited[queue[position]]:
                visited[queue[position]] = False
                position = position - 1 if position > 0 else len(queue) - 1
            hand = queue[position - 1] if position > 0 else None
            del visited[queue[position]]
            queue.pop(position)
        queue.insert(0, key)
        visited[key] = False
    return hits


def s3fifo(keys: Sequence[Key], slots: int, small_slots: int, remembered: int, fills_main: bool = False) -> list[bool]:
    """Follow Yang and others, algorithm 1: one block is evicted for each new one; queues have their heads at the list
    end.
    """
    small_queue: list[Key] = []
    main_queue: list[Key] = []
    ghost: list[Key] = []
    uses: dict[Key, int] = {}
    evicted_once = False

    def evict_main() -> None:
        while True:
            tail = main_queue.pop(0)
            if uses[tail] == 0:
                del uses[tail]
                return
            uses[tail] -= 1
            main_queue.append(tail)

    def evict() -> None:
        if len(small_queue) < small_slots and main_queue:
            return evict_main()
        while small_queue:
            tail = small_queue.pop(0)
            if uses[tail] <= 1:
                del uses[tail]
                ghost.append(tail)
                if len(ghost) > remembered:
                    ghost.pop(0)
                return None
            uses[tail] = 0
            main_queue.append(tail)
        return evict_main()

    hits = []
    for key in keys:
        hits.append(key in uses)
        if key in uses:
            uses[key] = min(uses[key] + 1, 3)
            continue
        returns = key in ghost
        if returns:
            ghost.remove(key)
        if len(small_queue) + len(main_queue) == slots:
            evict()
            evicted_once = True
        to_main = returns or (fills_main and not evicted_once and len(small_queue) >= small_slots)
        (main_queue if to_main else small_queue).append(key)
        uses[key] = 0
    return hits


def belady(keys: Sequence[Key], slots: int) -> list[bool]:
    """Search the rest of the trace for the next use of each block at every eviction."""
    cache: set[Key] = set()
    hits = []
    for time, key in enumerate(keys):
        hits.append(key in cache)
        if key in cache:
            continue
        if len(cache) == slots:
            future = list(keys[time + 1 :])
            cache.remove(max(cache, key=lambda key: future.index(key) if key in future else len(future)))
        cache.add(key)
    return hits


def toss(uses: Sequence[tuple[int, Key]], slots: int, parallel: bool) -> list[bool]:
    """Take processes and keys; remove a block when its process, or all processes that use it, use another block."""
    readers: dict[Key, set[int]] = {}
    for process, key in uses:
        readers.setdefault(key, set()).add(process)
    cache: list[Key] = []  # the most recently used at the end
    finished_processes: dict[Key, set[int]] = {}
    current: dict[int, Key] = {}
    hits = []

    def remove(key: Key) -> None:
        cache.remove(key)
        for process in [process for process, block in current.items() if block == key]:
            del current[process]

    for process, key in uses:
        hits.append(key in cache)
        previous = current.get(process)
        if previous is not None and previous != key and previous in cache:
            finished_processes[previous].add(process)
            if not parallel or finished_processes[previous] == readers[previous]:
                remove(previous)
        if key in cache:
            cache.remove(key)
        else:
            if len(cache) == slots:
                remove(cache[0])
            finished_processes[key] = set()
        cache.append(key)
        current[process] = key
    return hits


def partition(uses: Sequence[tuple[int, Key]], slots: int, limit: int, *, first_in: bool = False) -> list[bool]:
    """Take processes and keys; each process has its own list of blocks, by LRU, or by FIFO if ``first_in``."""
    process_blocks: dict[int, list[Key]] = {process: [] for process, _ in uses}  # in the order in which they come
    hits = []
    for process, key in uses:
        owner = next((candidate for candidate, blocks in process_blocks.items() if key in blocks), None)
        hits.append(owner is not None)
        if owner is not None:
            if not first_in:
                process_blocks[owner].remove(key)
                process_blocks[owner].append(key)
            continue
        own_blocks = process_blocks[process]
        if len(own_blocks) == limit:
            own_blocks.pop(0)
        elif sum(map(len, process_blocks.values())) == slots:
            max(process_blocks.values(), key=len).pop(0)
        own_blocks.append(key)
    return hits
