! A rank queries the tables before any rank calls a primitive.
program tables_first
  implicit none
  external :: proc_map, plait_fda, plait_print_p_info, plait_message
  integer, external :: plait_status
  integer :: me, none(1), lists(7), i, row(6)
  character(len=200) :: text
  call get_environment_variable('PMI_RANK', text, i)
  if (i == 0) call get_environment_variable('OMPI_COMM_WORLD_RANK', text)
  read (text, *) me
  if (me == 1) then
    call plait_fda(3, row)
    if (plait_status() /= 1) error stop 'there is a unit'
    call plait_message(text)
    if (index(text, 'no unit is open') == 0) error stop 'another message'
    call plait_print_p_info()
    if (plait_status() /= 1) error stop 'there is a grid'
  end if
  lists = -1
  lists(1) = 2
  call proc_map(lists, 0, none)
  if (plait_status() /= 0) error stop 'no grid'
end program
