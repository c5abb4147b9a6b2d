! Errors of one rank and of all ranks in calls without a status argument, and files that are not closed.
program unasked
  use plait
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  type(plait_comm) :: comm, alone
  type(plait_layout) :: layout
  type(plait_file) :: written, old, new, single
  type(plait_stream) :: stream
  real(8) :: two(2)
  two = 1
  call plait_world(comm)
  call plait_alone(alone)
  call plait_open(written, 'whole.bin', 'w', comm, shape=[4], dtype='<f8')
  call plait_stream_open(stream, written, plait_stream_own)
  call plait_stream_seek(stream, 1_int64)
  call plait_stream_write(stream, two)
  if (comm%rank == 1) then
    call plait_stream_seek(stream, 4_int64)
    call plait_stream_write(stream, two)   ! past the end of the file: rank 1 reports the error
  end if
  call plait_stream_close(stream)
  call plait_parse(layout, '(block) onto (1)', [4])
  call plait_write(written, layout, two)   ! two elements instead of four: rank 0 reports the error
  call plait_close(written)
  call plait_open(old, 'whole.bin', 'r', comm, shape=[4], dtype='<f8')
  call plait_open(new, 'new.npy', 'w', comm, shape=[4], dtype='<f8')
  if (comm%rank == 1) call plait_open(single, 'own.npy', 'w', alone, shape=[4], dtype='<f8')
end program
