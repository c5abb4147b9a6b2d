"""What a rank of a simulated access does with its time."""

PHASES = ("plan", "file", "exchange", "copy", "waiting")
"""In the order in which they are shown."""
