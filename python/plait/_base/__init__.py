"""What everything in the package uses: errors, forks, late imports, shared libraries, and numbers as text."""
