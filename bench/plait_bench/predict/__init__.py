"""Measures how well `plait simulate` predicts programs on a disk other than the calibrated one."""
