"""`plait bench mpiio`: unchanged programs that call MPI-IO, with Plait and without."""
