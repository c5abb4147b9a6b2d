"""The Touchstone Delta: the fit to table 9, and the errors for the other tables that docs/guides/model.md states."""

import pytest

import plait
from plait import model
from plait.model.thesis import delta
from plait.model.thesis.measurements import K, measurements


def row_key(row):
    """Return the values that distinguish a row from the others."""
    return row.table, row.distribution, row.size, row.processors, row.mode


def find_prediction(table, distribution, size, processors, mode):
    """Return the prediction of one row of the tables; ``size`` is in units of 1024."""
    key = (table, distribution, size * K, processors, mode)
    matching = [prediction for prediction in delta.predictions() if row_key(prediction.measured) == key]
    assert len(matching) == 1
    return matching[0]


def test_rates_and_times_of_the_tables_agree():
    rate, time = find_prediction(9, "column-block", 5, 16, 3), find_prediction(15, "column-block", 5, 16, 3)
    assert rate.measured.seconds == pytest.approx(time.measured.seconds, rel=2e-3)
    rate, time = find_prediction(10, "column-cyclic", 5, 64, 3), find_prediction(17, "column-cyclic", 5, 64, 3)
    assert rate.measured.seconds == pytest.approx(time.measured.seconds, rel=1e-4)


def test_unreadable_rows_are_omitted():
    unreadable = [row for row in measurements() if row.unreadable]
    assert len(unreadable) == 12
    assert all(not row.processors or not row.mode for row in unreadable)
    assert all(row.processors and row.mode for row in delta.readable())
    assert len(delta.predictions()) == len(measurements()) - 12


@pytest.mark.parametrize("mode", [2, 3])
def test_the_fit_is_to_table_9_alone(mode):
    rows = [row for row in measurements() if row.table == 9 and not row.unreadable]
    assert delta.fit(mode) == delta.fit(mode, rows)
    assert delta.fit(mode).rows == 7


def test_the_fit_is_the_best_one():
    """Other parameters, nearby or with one step less or more, do not have smaller squared relative errors."""

    def sum_of_squared_errors(fit):
        machine = delta.machine(fit.mode, fit)
        rows = [row for row in delta.readable(9) if row.mode == fit.mode]
        times = [model.direct_time(machine, delta.requests_for(row)).total / row.seconds for row in rows]
        return sum((ratio - 1) ** 2 for ratio in times)

    for mode in delta.MODES:
        best = delta.fit(mode)
        for disk in (0.98, 1, 1.02):
            for step in (0, 1e-4, 3e-4):
                trial = delta.Fit(mode, best.t_disk * disk, best.t_step + step, best.rows)
                assert sum_of_squared_errors(trial) >= sum_of_squared_errors(best) - 1e-12


def test_equation_21_is_equal_for_all_rows_of_table_9():
    """Applied to single processors, the model cannot distinguish 2.5 s from 72 s: shared requests matter."""
    requests = {
        model.disk_requests(row.size**2 // row.processors, 64, 8, 4096) for row in delta.readable(9) if row.mode == 3
    }
    assert requests == {64}


def test_the_machine_file_has_the_fitted_numbers():
    file, fitted = model.load("delta"), delta.machine(3)
    assert file.read_rate == pytest.approx(fitted.read_rate, rel=1e-4)
    assert (file.step, file.synchronization, file.name) == (fitted.step, fitted.synchronization, fitted.name)


#: Largest absolute relative error, and mean factor between prediction and measurement, for each table and mode.
MAX_ERRORS = {
    (9, 2): (0.20, 1.13),
    (9, 3): (0.20, 1.16),
    (10, 2): (1.13, 2.2),
    (10, 3): (0.88, 3.3),
    (11, 2): (0.83, 1.6),
    (15, 3): (0.69, 1.5),
    (16, 3): (2.8, 1.9),
    (17, 3): (2.2, 3.2),
    (18, 3): (3.1, 2.9),
}


def test_errors_are_no_larger_than_documented():
    errors = {(error.table, error.mode): error for error in delta.errors(delta.predictions())}
    assert errors.keys() == MAX_ERRORS.keys()
    for key, (largest, factor) in MAX_ERRORS.items():
        assert errors[key].largest <= largest
        assert errors[key].factor <= factor
        assert errors[key].median <= errors[key].largest


def test_row_cyclic_cannot_be_predicted():
    """The time depends mainly on t_io, which table 9 does not determine."""
    bounds = [prediction for prediction in delta.predictions() if prediction.measured.above]
    assert len(bounds) == 4
    assert all(bound.error is None and bound.factor is None for bound in bounds)
    assert all(bound.measured.distribution == "row-cyclic" and bound.seconds < bound.measured.above for bound in bounds)


def test_other_modes_are_rejected():
    for call in (delta.machine, delta.fit):
        with pytest.raises(plait.Error, match="found the file mode 1, expected one of 2, 3"):
            call(1)
