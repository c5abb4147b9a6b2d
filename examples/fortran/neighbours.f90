! Every rank computes while it writes to the disk of its neighbour.
program neighbours
  use plait
  implicit none
  type(plait_comm) :: comm
  type(plait_dio) :: dio
  type(plait_request) :: request
  real(8), asynchronous :: field(1000), stored(1000)
  character(20) :: path

  call plait_world(comm)
  write (path, '(a, i0, a)') 'disk-of-', comm%rank, '.bin'
  call plait_dio_open(dio, path, 'w', comm)   ! collective; a file on each rank's disk
  field = comm%rank
  call plait_dio_write(dio, 0, field, mod(comm%rank + 1, comm%size), request)   ! onto another rank's disk
  ! ... compute ...
  call plait_dio_wait(request)
  call plait_dio_sync(dio, mod(comm%rank + 1, comm%size))
  call plait_dio_close(dio)   ! collective: now all ranks have waited for their writes

  call plait_dio_open(dio, path, 'r', comm)
  call plait_dio_read(dio, 0, stored, comm%rank)
  if (comm%rank == 0) &
    print '(a, i0, a, f5.1, a)', 'rank ', comm%size - 1, ' wrote ', stored(1), ' onto the disk of rank 0'
  call plait_dio_close(dio)
  call comm%free()
end program
