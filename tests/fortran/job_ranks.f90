! The ranks of a job without MPI, in Fortran: each writes its columns of a 6 x 8 array.
program job_ranks
  use plait
  implicit none
  type(plait_comm) :: comm
  type(plait_layout) :: layout
  type(plait_file) :: file
  character(80) :: text
  character(400) :: name
  real(8) :: local_array(6, 8)
  integer(8) :: shape(2), i, j
  call get_command_argument(1, name)
  call plait_world(comm)
  call comm%barrier()
  write (text, '(a, i0, a)') '6x8 (*, cyclic) onto (', comm%size, ')'
  call plait_parse(layout, trim(text))
  shape = layout%local_shape(comm%rank)
  do j = 1, shape(2)
    do i = 1, 6
      local_array(i, j) = real(((j - 1) * comm%size + comm%rank) * 6 + i - 1, 8)
    end do
  end do
  call plait_open(file, trim(name), 'w', comm, shape=[6_8, 8_8], dtype='<f8')
  call plait_write(file, layout, local_array(:, :shape(2)))
  call plait_close(file)
  print '(a, i0, a, i0)', 'rank ', comm%rank, ' of ', comm%size
end program
