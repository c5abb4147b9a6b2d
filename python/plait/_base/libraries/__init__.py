"""Third-party libraries that this process has loaded or could load: MPI and HDF5."""
