"""Redistribution of arrays in memory, and the checks of arrays that several calls share."""
