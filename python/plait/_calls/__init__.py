"""Support of collective calls: communicators, errors that all ranks get, nonblocking calls, and abandoned handles."""
