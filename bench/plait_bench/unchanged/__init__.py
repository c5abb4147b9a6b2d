"""`plait bench mpiio`: programs that call MPI-IO, with Plait and without."""
