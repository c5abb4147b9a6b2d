"""Redistribution: copies arrays in memory from one layout to another."""
