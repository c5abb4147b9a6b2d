! The 1993 primitives: writes a matrix distributed column by column and reads it back in blocks of rows, through two
! ranks.
program column_cyclic
  use plait, only: popen, pclose, proc_map, array_map, array_type, pread, pwrite, plait_print_adt
  implicit none
  integer, parameter :: none = -1
  integer :: columns(7), rows(7), ad, disks, stat
  integer :: user_map(1), buffer(4096)
  double precision :: local(64, 16), block(16, 64)

  columns = [1, 4, none, none, none, none, none]   ! four processors along the second dimension
  rows = [4, 1, none, none, none, none, none]
  local = 1

  call proc_map(columns, 0, user_map)
  ad = array_map('A', [64, 64, none, none, none, none, none], [0, 2, none, none, none, none, none], &
    [none, none, none, none, none, none, none], columns)
  call array_type(ad, 'REAL*8')
  disks = -1
  call popen(3, 'matrix', 'SEQUENTIAL', 'UNFORMATTED', 'NEW', disks, -1)
  call pwrite(local, 64, 16, ad, 3, buffer, 4096)
  call pclose(3)

  call proc_map(rows, 0, user_map)
  ad = array_map('A', [64, 64, none, none, none, none, none], [1, 0, none, none, none, none, none], &
    [none, none, none, none, none, none, none], rows)
  call array_type(ad, 'REAL*8')
  call popen(3, 'matrix', 'SEQUENTIAL', 'UNFORMATTED', 'OLD', disks, 2)
  call pread(block, 16, 64, ad, 3, buffer, 4096, stat)
  if (stat /= 0 .or. any(block /= 1)) error stop 'not what was written'
  call pclose(3)
  call plait_print_adt(ad)
end program
