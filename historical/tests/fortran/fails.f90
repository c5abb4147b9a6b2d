! The rank that the environment variable RANK names fails while the others wait for it in pclose.
program fails
  implicit none
  external :: popen, pclose, proc_map
  integer, external :: plait_status
  integer :: me, failing, none(1), lists(7), i
  character(len=20) :: text
  call get_environment_variable('PMI_RANK', text, i)
  if (i == 0) call get_environment_variable('OMPI_COMM_WORLD_RANK', text)
  read (text, *) me
  call get_environment_variable('RANK', text)
  read (text, *) failing
  lists = -1
  lists(1) = 3
  call proc_map(lists, 0, none)
  call popen(3, 'left', 1, 0, 1, -1, -1)
  if (plait_status() /= 0) error stop 'not opened'
  if (me == failing) error stop 'this rank fails'
  call pclose(3)
end program
