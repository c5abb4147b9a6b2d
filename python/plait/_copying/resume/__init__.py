"""Copies that are resumed after an interruption."""
