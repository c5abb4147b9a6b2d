"""Machines for the cost model, as TOML files."""
