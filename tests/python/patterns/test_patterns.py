"""Access patterns, compared with the same patterns as lists of elements."""

import itertools
import tracemalloc
from collections import Counter

import pytest

import plait
from plait.patterns import GDP, GDR, GSA, GSI, GSO, GSP, GSPS, GSS, GSSA, PATTERNS, Access
from plait.patterns._shuffle import shuffled

RANKS = (1, 2, 3, 4, 6, 7)
ELEMENTS = (0, 1, 2, 5, 6, 7, 24, 100, 101)
REQUESTS = (1, 3, 7, 24, 1000)
SIZES = list(itertools.product(ELEMENTS, REQUESTS))
for_ranks = pytest.mark.parametrize("ranks", RANKS)


def list_elements(pattern, rank):
    """Return the list of elements that a rank reads or writes."""
    return [i for access in pattern.requests(rank) for i in range(access.offset, access.offset + access.count)]


def ceil(a, b):
    return (a + b - 1) // b


def partition(elements, parts):
    """Return the elements of each contiguous part."""
    size = ceil(elements, parts)
    return [list(range(elements))[k * size : (k + 1) * size] for k in range(parts)]


@for_ranks
@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", PATTERNS)
def test_requests_are_in_the_file_and_can_be_computed_one_by_one(name, ranks):
    for elements, request in SIZES:
        pattern = PATTERNS[name](elements, ranks, request, kind="write")
        assert pattern.name == name
        counts = []
        for rank in range(ranks):
            requests = list(pattern.requests(rank))
            counts.append(len(requests))
            assert pattern.count(rank) == len(requests)
            assert [pattern.at(rank, number) for number in range(len(requests))] == requests
            for kind, offset, count in requests:
                assert kind == "write"
                assert 0 < count <= pattern.largest
                assert 0 <= offset <= elements - count
        assert pattern.rounds == max(counts)
        assert 0 in pattern.modes
        assert pattern.mode in pattern.modes


@for_ranks
def test_gsa_reads_everything_on_all_ranks(ranks):
    for elements, request in SIZES:
        pattern = GSA(elements, ranks, request)
        for rank in range(ranks):
            assert list_elements(pattern, rank) == list(range(elements))
            assert pattern.count(rank) == ceil(elements, request)


@for_ranks
def test_gss_reads_everything_on_some_ranks(ranks):
    for elements, request in SIZES:
        assert GSS(elements, ranks, request).active == ceil(ranks, 2)
        for active in range(1, ranks + 1):
            pattern = GSS(elements, ranks, request, active=active)
            for rank in range(ranks):
                assert list_elements(pattern, rank) == (list(range(elements)) if rank < active else [])


@for_ranks
def test_the_parts_of_gsp_are_those_of_block(ranks):
    for elements, request in SIZES:
        pattern = GSP(elements, ranks, request)
        layout = plait.Layout((elements,), ["block"], grid=(ranks,))
        for rank, part in enumerate(partition(elements, ranks)):
            assert list_elements(pattern, rank) == part == list(layout.indices(rank)[0])


@for_ranks
def test_gsps_divides_the_file_among_some_ranks(ranks):
    for elements, request in SIZES:
        for active in range(1, ranks + 1):
            pattern = GSPS(elements, ranks, request, active=active)
            assert [list_elements(pattern, rank) for rank in range(active)] == partition(elements, active)
            assert not any(list_elements(pattern, rank) for rank in range(active, ranks))


@for_ranks
def test_the_records_of_gsi_are_those_of_cyclic(ranks):
    for elements, request in SIZES:
        pattern = GSI(elements, ranks, request)
        layout = plait.Layout((elements,), [f"cyclic({request})"], grid=(ranks,))
        for rank in range(ranks):
            indices = [i for i in range(elements) if i // request % ranks == rank]
            assert list_elements(pattern, rank) == indices == list(layout.indices(rank)[0])
            assert all(access.offset % request == 0 for access in pattern.requests(rank))


@for_ranks
@pytest.mark.parametrize("seed", [None, 0, 5])
def test_scheduled_records_are_assigned_once(ranks, seed):
    for elements, request in SIZES:
        pattern = GSSA(elements, ranks, request, seed=seed)
        records = ceil(elements, request)
        by_rank = [[access.offset for access in pattern.requests(rank)] for rank in range(ranks)]
        assert sorted(itertools.chain(*by_rank)) == list(range(0, elements, request))
        assert sorted(itertools.chain(*(list_elements(pattern, rank) for rank in range(ranks)))) == list(
            range(elements)
        )
        assert all(offsets == sorted(offsets) for offsets in by_rank)
        assert {len(offsets) for offsets in by_rank} <= {records // ranks, ceil(records, ranks)}
        if seed is None:
            assert pattern == GSSA(elements, ranks, request)
            assert [list(pattern.requests(rank)) for rank in range(ranks)] == [
                list(GSI(elements, ranks, request).requests(rank)) for rank in range(ranks)
            ]


@for_ranks
@pytest.mark.parametrize("overlap", [None, 0, 1, 10])
def test_overlapped_requests_cover_the_file_within_the_overlap(ranks, overlap):
    for elements, request in SIZES:
        pattern = GSO(elements, ranks, request, overlap=overlap, seed=3)
        max_overlap = request if overlap is None else overlap
        ranges = sorted(access[1:] for rank in range(ranks) for access in pattern.requests(rank))
        assert [offset for offset, _ in ranges] == list(range(0, elements, request))
        for offset, count in ranges:
            assert min(request, elements - offset) <= count <= min(request + max_overlap, elements - offset)
        assert {i for rank in range(ranks) for i in list_elements(pattern, rank)} == set(range(elements))


def test_overlapped_requests_differ_in_size():
    sizes = Counter(access.count for access in GSO(10000, 1, 10, overlap=4).requests(0))
    assert sorted(sizes) == [10, 11, 12, 13, 14]
    assert min(sizes.values()) > 100


@for_ranks
def test_random_requests_have_one_size(ranks):
    for elements, request in SIZES:
        pattern = GDR(elements, ranks, request, seed=1)
        for rank in range(ranks):
            assert pattern.count(rank) == ceil(ceil(elements, request), ranks)
            assert all(access.count == min(request, elements) for access in pattern.requests(rank))
        assert GDR(elements, ranks, request, each=5).count(0) == (5 if elements else 0)


def test_random_requests_have_any_offset():
    begins = Counter(access.offset for access in GDR(20, 2, 5, each=8000).requests(1))
    assert sorted(begins) == list(range(16))
    assert max(begins.values()) < 1.3 * min(begins.values())
    first, second = (list(GDR(10**9, 2, 5, each=50, seed=seed).requests(0)) for seed in (1, 2))
    assert not set(first) & set(second)
    assert first == list(GDR(10**9, 2, 5, each=50, seed=1).requests(0))
    assert first != list(GDR(10**9, 2, 5, each=50, seed=1).requests(1))


@for_ranks
def test_direct_parts_have_the_requests_of_sequential_ones_in_another_order(ranks):
    for elements, request in SIZES:
        sequential, direct = GSP(elements, ranks, request), GDP(elements, ranks, request, seed=9)
        for rank in range(ranks):
            assert sorted(direct.requests(rank)) == list(sequential.requests(rank))


def test_the_order_of_direct_parts_is_fixed_by_the_seed():
    orders = [list(GDP(1000, 2, 5, seed=seed).requests(rank)) for seed in (0, 1) for rank in (0, 1)]
    assert all(order != sorted(order) for order in orders)
    assert orders[0] != orders[2]
    assert orders[0] == list(GDP(1000, 2, 5).requests(0))
    assert [offset for _, offset, _ in orders[0]] != [offset - 500 for _, offset, _ in orders[1]]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 16, 17, 255, 256, 257, 1000])
def test_shuffles_are_permutations(size):
    assert sorted(shuffled(position, size, 7) for position in range(size)) == list(range(size))


def test_shuffles_of_three_take_all_permutations():
    assert len({tuple(shuffled(position, 3, seed) for position in range(3)) for seed in range(100)}) == 6


def test_orders_are_the_same_everywhere():
    assert [access.offset for access in GDP(50, 1, 10).requests(0)] == [40, 10, 20, 30, 0]
    assert [access.offset for access in GDR(1000, 1, 10, each=3).requests(0)] == [599, 748, 357]
    assert [access.offset for access in GSSA(60, 3, 10, seed=0).requests(0)] == [0, 30]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_of_a_huge_file_takes_no_memory(name):
    pattern = PATTERNS[name](10**15 + 7, 1000, 1001)
    tracemalloc.start()
    requests = pattern.requests(3)
    first = list(itertools.islice(requests, 100))
    last = pattern.at(3, pattern.count(3) - 1) if pattern.count(3) else None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(first) == 100
    assert last is not None
    assert 0 < last.count <= pattern.largest
    assert peak < 50_000


def test_patterns_have_the_modes_of_the_thesis():
    # The request is all of a rank's part, or a page of it.
    whole, paged = (lambda kind: kind(1000, 4, 250)), (lambda kind: kind(1000, 4, 10))
    assert {name: kind.thesis_mode for name, kind in PATTERNS.items() if kind.thesis_mode is not None} == {
        "GSA": 0, "GSP": 1, "GSI": 3, "GSSA": 1,
    }  # fmt: skip
    assert [paged(kind).mode for kind in PATTERNS.values()] == [0, 0, 0, 3, 1, 0, 0, 0, 0]
    assert [whole(kind).mode for kind in PATTERNS.values()] == [0, 0, 1, 3, 1, 0, 0, 0, 0]
    assert {name: paged(kind).modes for name, kind in PATTERNS.items() if len(paged(kind).modes) > 1} == {
        "GSA": (0, 4), "GSI": (0, 2, 3), "GSSA": (0, 1),
    }  # fmt: skip
    assert whole(GSP).modes == (0, 1, 2, 3)
    assert GSPS(1000, 4, 500).modes == (0, 1, 2)
    assert GSI(1001, 4, 10, kind="write").modes == (0, 2)
    assert GSP(1001, 4, 1000, kind="write").modes == (0, 1, 2)
    assert [kind.view for kind in PATTERNS.values()] == ["sequential"] * 7 + ["direct"] * 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GSA(-1, 1, 1), "elements=-1"),
        (lambda: GSA(1, 0, 1), "ranks=0"),
        (lambda: GSI(1, 1, 0), "request=0; it must be at least 1"),
        (lambda: GSI(1, 1, 2.5), "request=2.5 is not a whole number"),
        (lambda: GSI(1, 1, 1, kind="append"), 'use "read" or "write"'),
        (lambda: GSS(1, 2, 1, active=3), "there are 2 ranks"),
        (lambda: GSPS(1, 2, 1, active=0), "active=0; it must be at least 1"),
        (lambda: GSO(1, 2, 1, overlap=-1), "overlap=-1"),
        (lambda: GDR(1, 2, 1, each=-1), "each=-1"),
        (lambda: GDP(1, 2, 1, seed=-1), "seed=-1"),
        (lambda: GSSA(1, 2, 1, seed=-1), "seed=-1"),
        (lambda: GSA(10, 2, 3).at(2, 0), "rank 2 was named, but the ranks are 0 to 1"),
        (lambda: GSA(10, 2, 3).at(1, 4), "makes 4 requests, counted from 0; there is no request 4"),
        (lambda: GSA(10, 2, 3).requests(-1), "rank -1"),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(plait.ArgumentError) as error:
        make()
    assert message in str(error.value)


def test_patterns_are_values():
    assert GSI(10, 2, 3) == GSI(10, 2, 3) != GSI(10, 2, 4)
    assert GSI(10, 2, 3) != GSA(10, 2, 3)
    assert len({GSI(10, 2, 3), GSI(10, 2, 3), GSI(10, 2, 3, kind="write")}) == 2
    assert list(GSI(10, 2, 3).requests(1)) == [Access("read", 3, 3), Access("read", 9, 1)]
