"""The phases of a rank in a simulated access."""

PHASES = ("plan", "file", "exchange", "copy", "waiting")
"""The phases in the order of display."""
