! Plait in Fortran: layouts, files, streams, requests, distant files, and the 1993 primitives; see
! docs/reference/fortran.md.
module plait
  use plait_core, only: plait_comm, plait_layout, plait_world, plait_alone, plait_from_mpi, plait_parse
  use plait_files
  use plait_streams
  use plait_attributes
  use plait_steps
  use plait_distant
#ifdef PLAIT_PRIMITIVES
  use plait_primitives
#endif
  implicit none
  public
  private :: found_file, found_request
end module
