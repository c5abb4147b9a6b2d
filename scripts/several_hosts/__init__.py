"""Hosts in network namespaces of one machine: scripts/hosts.py makes them, docs/guides/hosts.md describes them."""
