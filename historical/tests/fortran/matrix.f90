! Writes a matrix distributed BLOCK by CYCLIC, with texts instead of codes as arguments of popen; reads it back under
! another map and with fewer readers, and prints the tables.  The matrix has 9 x 7 elements of type REAL*8, so that the
! local arrays differ in size.
program matrix
  implicit none
  external :: popen, pclose, proc_map, array_type, pread, pwrite, plait_fda, plait_adt, plait_p_info
  integer, external :: array_map, plait_status
  integer, parameter :: rows = 9, columns = 7
  integer :: size_info(7), distr_info(7), block_size(7), proc_info(7), user_map(2), none(1)
  integer :: ad, other, disks, row(6), table(4, 7), positions(3, 2)
  double precision :: local(5, 7), again(rows, columns)

  size_info = [rows, columns, -1, -1, -1, -1, -1]
  distr_info = [1, 2, -1, -1, -1, -1, -1]
  block_size = -1
  proc_info = [2, 1, -1, -1, -1, -1, -1]
  user_map = [1, 0]
  call proc_map(proc_info, -1, user_map)
  ad = array_map('MATRIX', size_info, distr_info, block_size, proc_info)
  call array_type(ad, 'Real*8 ')
  call plait_adt(ad, table)
  call plait_p_info(positions)
  disks = -1
  call popen(10, 'matrix.bin  ', 'Sequential', 'UNFORMATTED', 'new', disks, -1)
  call plait_fda(10, row)
  call fill(local, merge(0, 5, positions(3, 1) == my_rank()), merge(5, 4, positions(3, 1) == my_rank()))
  call pwrite(local, 5, 7, ad, 10, none, -1)
  call pclose(10)
  if (plait_status() /= 0) error stop 'not written'
  if (my_rank() == 0) then
    print '(a,7i4)', 'fda', row, disks
    print "(a,8i4)", "adt", table(:, 1:2)
    print '(a,7i4)', 'p_info', positions
  end if

  ! The other map: columns distributed in blocks of two, one reader.
  distr_info(1:2) = [0, 3]
  block_size(2) = 2
  proc_info(1:2) = [1, 2]
  call proc_map(proc_info, 0, none)
  other = array_map('AGAIN', size_info, distr_info, block_size, proc_info)
  call array_type(other, 'DOUBLE PRECISION')
  call popen(10, 'matrix.bin', 'DIRECT', 'UNFORMATTED', 'OLD', disks, 1)
  call pread(again, rows, columns, other, 10, none, 100)
  call pclose(10)
  if (plait_status() /= 0) error stop 'not read'
  call check(again, my_rank())

contains

  ! The rank according to the launcher's environment variables, because this program does not call MPI.
  integer function my_rank()
    character(len=12) :: text
    integer :: length
    call get_environment_variable('PMI_RANK', text, length)
    if (length == 0) call get_environment_variable('OMPI_COMM_WORLD_RANK', text, length)
    if (length == 0) call get_environment_variable('PLAIT_RANK', text, length)
    my_rank = 0
    if (length > 0) read (text, *) my_rank
  end function

  double precision function element(i, j)
    integer, intent(in) :: i, j
    element = i + 0.001d0*j
  end function

  subroutine fill(array, first, count)
    double precision, intent(out) :: array(5, 7)
    integer, intent(in) :: first, count
    integer :: i, j
    array = -1
    do j = 1, columns
      do i = 1, count
        array(i, j) = element(first + i, j)
      end do
    end do
  end subroutine

  subroutine check(array, rank)
    double precision, intent(in) :: array(rows, columns)
    integer, intent(in) :: rank
    integer :: i, j, local
    local = 0
    do j = 1, columns
      if (mod((j - 1)/2, 2) /= rank) cycle
      local = local + 1
      do i = 1, rows
        if (array(i, local) /= element(i, j)) error stop 'wrong element'
      end do
    end do
    if (local /= merge(4, 3, rank == 0)) error stop 'wrong share'
  end subroutine
end program
