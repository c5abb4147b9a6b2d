"""Traces of input and output: recording any program, reading any trace, and what it means."""
