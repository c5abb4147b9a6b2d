"""Cases that may take very long are tried once, by ranks that are killed if they do not return."""

import pytest

from plait.launch import LaunchError, StalledError
from plait_bench.steps import Steps
from plait_bench.trials import Trials


class Ranks:
    """Ranks that try the remaining cases, do not return from "slow", and fail in "broken"."""

    def __init__(self, names):
        self.events = [event for name in names for event in self.trial_events(name)]

    def trial_events(self, name):
        yield {"event": "start", "cell": name}
        if name == "broken":
            yield {"event": "failed", "cell": name, "text": "no"}
        else:
            yield None if name == "slow" else {"event": "done", "cell": name, "seconds": 0.1}

    def next_event(self, timeout):
        if not self.events:
            return None
        event = self.events.pop(0)
        if event is None:
            raise StalledError("nothing came")
        return event

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def run(start, count):
    results, progress_texts = {}, []
    trials = Trials(
        start=start,
        find_trial=lambda event: event["cell"],
        describe=str,
        record_result=lambda event, name: results.setdefault(name, event and event["event"]),
        time_limit=1.0,
    )
    trials.run(count, Steps(lambda text, share: progress_texts.append(text), count))
    return results, progress_texts


def test_new_ranks_try_the_remaining_cases_after_a_hang():
    names = ["one", "slow", "broken", "two"]
    starts = []

    def start(tried):
        starts.append(list(tried))
        return Ranks([name for name in names if name not in tried])

    results, progress_texts = run(start, len(names))
    assert starts == [[], ["one", "slow"]]
    assert results == {"one": "done", "slow": None, "broken": "failed", "two": "done"}
    assert "slow: given up" in progress_texts
    assert "tried two" in progress_texts


def test_ranks_that_try_nothing_are_an_error():
    with pytest.raises(LaunchError, match="without trying anything"):
        run(lambda tried: Ranks([]), 1)
