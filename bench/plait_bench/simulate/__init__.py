"""Measures the requests per second of the caches of `plait.simulate`."""
