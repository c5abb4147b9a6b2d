"""Measures the constants of the cost model by which Plait chooses strategies, and keeps them for this host."""

from plait.model.calibration.constants import NAMES, Measured, constants_of, unrest_of
from plait.model.calibration.driver import Calibration, CalibrationSettings, calibrate
from plait.model.calibration.files import Costs, builtin, in_force, make_folder, own_path, remove, save

__all__ = [
    "NAMES",
    "Calibration",
    "CalibrationSettings",
    "Costs",
    "Measured",
    "builtin",
    "calibrate",
    "constants_of",
    "in_force",
    "make_folder",
    "own_path",
    "remove",
    "save",
    "unrest_of",
]
