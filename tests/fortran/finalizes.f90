! Ends after a nonblocking access, an abandoned file or an open stream, without waiting or closing. The environment
! variable WHAT selects one of them.
program finalizes
  use plait
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  type(plait_comm) :: comm
  type(plait_file) :: file
  type(plait_layout) :: layout
  type(plait_stream) :: stream
  type(plait_request) :: request
  real(real64), allocatable, asynchronous, save :: local_array(:, :)
  integer, parameter :: side = 512
  character(len=20) :: what
  character(len=60) :: text
  call get_environment_variable('WHAT', what)
  call plait_world(comm)
  write (text, '(a, i0, a)') '512x512 (*, cyclic) onto (', comm%size, ')'
  call plait_parse(layout, trim(text))
  call plait_open(file, 'finalizes.npy', 'w', comm, shape=[512_int64, 512_int64], dtype='<f8')
  allocate (local_array(side, side/comm%size + 1))
  local_array = comm%rank
  select case (what)
  case ('started')
    call plait_start_write(file, layout, local_array(:, 1:(side - comm%rank + comm%size - 1)/comm%size), request)
  case ('abandoned')
    call plait_abandon(file)
  case ('stream')
    call plait_stream_open(stream, file, plait_stream_shared)
  case default
    error stop 'WHAT is unknown'
  end select
end program
