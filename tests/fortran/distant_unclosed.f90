! Distant files that the program does not close: temporary ones are removed when MPI is finalised, and no rank waits for
! another.
program distant_unclosed
  use plait
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  type(plait_comm) :: comm, alone
  type(plait_dio) :: persistent, temporary, single
  type(plait_request), save :: request
  integer(int64), asynchronous, save :: numbers(100000)
  call plait_world(comm)
  call plait_alone(alone)
  numbers = 5
  call plait_dio_open(persistent, 'kept-' // achar(iachar('0') + comm%rank), 'w', comm)
  call plait_dio_open(temporary, 'temporary-' // achar(iachar('0') + comm%rank), 'w', comm, temporary=.true.)
  call plait_dio_open(single, 'own-' // achar(iachar('0') + comm%rank), 'w', alone, temporary=.true.)
  call plait_dio_write(persistent, 0, numbers, comm%size - 1 - comm%rank, request)
  call plait_dio_write(single, 0, numbers, 0)
  call plait_dio_wait(request)
  if (comm%rank == 0) call plait_dio_close(persistent)   ! collective; fails, because the other ranks do not call it
end program
