"""The simulations of 1992: fitted values, reproduced results, and results that are not reproduced."""

import json

import pytest

from plait.simulate.paper1992 import redo


@pytest.fixture(scope="module")
def paper():
    return redo()


@pytest.mark.long
def test_only_one_number_is_fitted(paper):
    assert [claim.fitted for claim in paper.claims] == [True] + [False] * (len(paper.claims) - 1)
    assert paper.claims[0].holds
    assert 0.010 < paper.position < 0.025  # the paper: about 15 ms


@pytest.mark.long
def test_claims_that_are_reproduced(paper):
    holds = {claim.name: claim.holds for claim in paper.claims}
    missing = [name for name, fine in holds.items() if not fine]
    assert holds["idle time with write-behind: two venus, 128 MB"]
    assert holds["execution time without idle time: two venus"]
    assert len(missing) <= 5, missing


@pytest.mark.long
def test_claims_that_are_not_reproduced_have_a_reason(paper):
    assert all(claim.reason for claim in paper.claims if not claim.holds)
    text = str(paper)
    assert text.count("NOT as in the paper") == sum(not claim.holds for claim in paper.claims)
    assert json.loads(paper.to_json())["position"] == paper.position


@pytest.mark.long
def test_pictures(paper, tmp_path):
    pytest.importorskip("matplotlib")
    for name in paper.draw(tmp_path / "figures"):
        assert name.read_bytes().startswith(b"\x89PNG")
