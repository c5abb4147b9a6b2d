"""Latency and throughput of an object store, and the settings of Plait that follow from them."""
