"""Machines for the simulation, as TOML files."""
