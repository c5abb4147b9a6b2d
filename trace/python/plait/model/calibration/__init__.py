"""Measures the constants of the cost model by which Plait chooses strategies, and stores them for this host."""

from plait.model.calibration.constants import NAMES, AccessSample, fit_constants, measure_unrest
from plait.model.calibration.driver import Calibration, CalibrationSettings, calibrate
from plait.model.calibration.files import Costs, builtin, in_force, make_folder, own_path, remove, save

__all__ = [
    "NAMES",
    "AccessSample",
    "Calibration",
    "CalibrationSettings",
    "Costs",
    "builtin",
    "calibrate",
    "fit_constants",
    "in_force",
    "make_folder",
    "measure_unrest",
    "own_path",
    "remove",
    "save",
]
