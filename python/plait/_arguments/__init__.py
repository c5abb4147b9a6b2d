"""Checks and converts the arguments of callers."""
