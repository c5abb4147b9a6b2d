"""The libraries of others that this process has loaded or could load: MPI and HDF5."""
