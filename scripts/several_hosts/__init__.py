"""Hosts in network namespaces of one machine: scripts/hosts.py makes them, docs/guides/hosts.md tells what they are."""
