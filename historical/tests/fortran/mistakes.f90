! Makes mistakes and queries their status; then makes some without querying it, which Plait reports.  The program
! continues after each.
program mistakes
  implicit none
  external :: popen, pclose, proc_map, pread, plait_message
  integer, external :: array_map, plait_status
  integer :: lists(7), ad, array(10)
  character(len=200) :: text
  lists = -1
  call pclose(3)
  if (plait_status() /= 1) error stop 'pclose has not failed'
  call plait_message(text)
  if (index(text, 'pclose: unit 3 is not open') /= 1) error stop 'pclose says something else'
  call popen(3, 'there_is_no_such_file', 'DIRECT', 'UNFORMATTED', 'OLD', -1, -1)
  if (plait_status() /= 2) error stop 'popen has not failed'
  call popen(3, 'file', 'SEQUENTIAL', 'FORMATTED', 'NEW', -1, -1)
  call plait_message(text)
  if (index(text, 'only 0 (UNFORMATTED)') == 0) error stop 'popen says something else'
  call popen(3, 'file', 'SEQUENTIAL', 'UNFORMATTED', 'UNKNOWN', -1, -1)
  if (plait_status() /= 1) error stop 'popen has not failed'
  call popen(3, 'file', 'SEQUENTIALLY', 'UNFORMATTED', 'NEW', -1, -1)
  call plait_message(text)
  if (index(text, 'the word passed for access is not known') == 0) error stop 'popen takes the beginning of a word'
  call proc_map(lists, 0, lists)
  if (plait_status() /= 1) error stop 'proc_map has not failed'
  ! The status of the next three errors is not queried.
  ad = array_map('A', lists, lists, lists, lists)
  if (ad /= -1) error stop 'array_map has not failed'
  call pread(array, 10, 1, ad, 3, array, 10)
  call pclose(4)
end program
