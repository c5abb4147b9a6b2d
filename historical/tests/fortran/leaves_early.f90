! A rank reaches the end of the program while the others still call primitives: these calls fail, and all ranks end.
program leaves_early
  implicit none
  external :: popen, pclose, proc_map, pwrite, plait_message
  integer, external :: array_map, plait_status
  integer :: lists(7), ad, array(4), i, none(1), ranks, me
  character(len=400) :: text
  call get_environment_variable('RANKS', text)
  read (text, *) ranks
  lists = -1
  lists(1) = ranks
  call proc_map(lists, 0, none)
  ad = array_map('A', [4*ranks, -1, -1, -1, -1, -1, -1], [1, -1, -1, -1, -1, -1, -1], lists, lists)
  call popen(3, 'left', 1, 0, 1, -1, -1)
  array = 1
  call pwrite(array, 4, 1, ad, 3, none, -1)
  if (plait_status() /= 0) error stop 'not written'
  call get_environment_variable('PMI_RANK', text, i)
  if (i == 0) call get_environment_variable('OMPI_COMM_WORLD_RANK', text)
  read (text, *) me
  if (me == ranks - 1) stop
  do i = 1, 3
    call pwrite(array, 4, 1, ad, 3, none, -1)
    if (plait_status() /= 1) error stop 'no error'
    call plait_message(text)
    if (index(text, 'the end of the program') == 0) error stop 'another error'
  end do
end program
