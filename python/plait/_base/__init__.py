"""The base of the whole package: errors, forks, late imports, shared libraries, and numbers as text."""
