! Writes and reads arrays of several types, numbers of dimensions and strides with the module plait.  The values are
! computed from their positions, so that another program that reads the files can check them.
program arrays
  use plait
  use, intrinsic :: iso_fortran_env, only: int8, int16, int64, real32, real64
  implicit none
  type(plait_comm) :: comm
  call plait_world(comm)
  call vector_of_complex
  call matrix_in_a_corner
  call seven_dimensions
  call fifteen_dimensions
  call scalar_in_a_file
  call parts_and_requests
  call logicals_and_bytes
  call comm%free()

contains

  ! Ends the program with an error that states `what` if a condition does not hold.
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (.not. holds) then
      print *, 'rank', comm%rank, ': ', what
      error stop 1
    end if
  end subroutine

  ! Writes every third element of a complex array, and reads it forwards and backwards.
  subroutine vector_of_complex
    type(plait_layout) :: layout
    type(plait_file) :: file
    complex(real32), allocatable :: array(:), read_values(:)
    integer(int64), allocatable :: indices(:)
    character(40) :: text
    integer :: i, n
    write (text, '(a,i0,a)') '(cyclic(3)) onto (', comm%size, ')'
    call plait_parse(layout, text, [100])
    indices = layout%indices(comm%rank, 1)
    n = size(indices)
    call expect(all(layout%local_shape(comm%rank) == [n]), 'local shape')
    allocate (array(3*n), read_values(n))
    array = -1
    do i = 1, n
      array(3*i - 1) = cmplx(indices(i), -indices(i))
    end do
    call plait_open(file, 'vector.bin', 'w', comm, shape=[100], dtype='<c8')
    call plait_write(file, layout, array(2::3))
    call plait_read(file, layout, read_values)
    call expect(all(read_values == array(2::3)), 'complex vector')
    array = -2
    call plait_read(file, layout, array(3*n - 1:1:-3))   ! backwards
    call expect(all(read_values == array(3*n - 1:1:-3)), 'backwards')
    call expect(all(array(1::3) == -2), 'the elements between them')
    call plait_close(file)
    call layout%free()
  end subroutine

  ! Writes a section of a larger matrix.
  subroutine matrix_in_a_corner
    type(plait_layout) :: layout
    type(plait_file) :: file
    real(real64) :: array(12, 11)
    integer(int64), allocatable :: rows(:), columns(:)
    integer :: i, j
    character(60) :: text
    write (text, '(a,i0,a)') '(*, block) onto (', comm%size, ')'
    call plait_parse(layout, text, [9_int64, 10_int64])
    rows = layout%indices(comm%rank, 1)
    columns = layout%indices(comm%rank, 2)
    array = -1
    do j = 1, size(columns)
      do i = 1, size(rows)
        array(2 + i, 1 + j) = rows(i) + 100*columns(j)
      end do
    end do
    call plait_open(file, 'matrix.npy', 'w', comm, shape=[9, 10], dtype='<f8', memory=4096_int64)
    call plait_write(file, layout, array(3:11, 2:1 + size(columns)))
    call plait_close(file)
    call layout%free()
  end subroutine

  subroutine seven_dimensions
    type(plait_layout) :: layout
    type(plait_file) :: file
    integer(int16), allocatable :: array(:, :, :, :, :, :, :), read_values(:, :, :, :, :, :, :)
    integer(int64), allocatable :: n(:), indices(:)
    integer :: i
    character(80) :: text
    write (text, '(a,i0,a)') '(*, *, block, *, *, *, *) onto (', comm%size, ')'
    call plait_parse(layout, text, [2, 3, 7, 2, 2, 2, 3])
    n = layout%local_shape(comm%rank)
    indices = layout%indices(comm%rank, 3)
    allocate (array(n(1), n(2), n(3), n(4), n(5), n(6), n(7)), read_values(n(1), n(2), n(3), n(4), n(5), n(6), n(7)))
    do i = 1, int(n(3))
      array(:, :, i, :, :, :, :) = int(indices(i), int16)
    end do
    call plait_open(file, 'seven.bin', 'w', comm, shape=[2, 3, 7, 2, 2, 2, 3], element_bytes=2)
    call plait_write(file, layout, array)
    call plait_close(file)
    read_values = 0
    call plait_open(file, 'seven.bin', 'r', comm, shape=[2, 3, 7, 2, 2, 2, 3], dtype='<i2')
    call plait_read(file, layout, read_values)
    call expect(all(read_values == array), 'seven dimensions')
    call plait_close(file)
    call layout%free()
  end subroutine

  ! More dimensions than Fortran 2003 had.
  subroutine fifteen_dimensions
    type(plait_layout) :: layout
    type(plait_file) :: file
    integer(int64) :: array(2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3), shape(15)
    shape = 1
    shape(1) = 2
    shape(15) = 3
    call plait_parse(layout, '(*, *, *, *, *, *, *, *, *, *, *, *, *, *, block) onto (1)', shape)
    array(:, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, :) = reshape( &
      [1_int64, 2_int64, 3_int64, 4_int64, 5_int64, 6_int64], [2, 3])
    call plait_open(file, 'fifteen.bin', 'w', comm, shape=shape, element_bytes=8)
    call plait_write(file, layout, array)   ! only rank 0 has elements, because the layout has one rank
    call plait_close(file)
    call layout%free()
  end subroutine

  ! An array of no dimensions.
  subroutine scalar_in_a_file
    type(plait_layout) :: layout
    type(plait_file) :: file
    real(real64) :: value
    integer(int64) :: none(0)
    value = 2.5
    call plait_parse(layout, '() onto ()', none)
    call plait_open(file, 'number.npy', 'w', comm, shape=none, dtype='<f8')
    call plait_write(file, layout, value)
    value = 0
    call plait_read(file, layout, value)
    if (comm%rank == 0) call expect(value == 2.5, 'a number')
    call plait_close(file)
    call layout%free()
  end subroutine

  ! Reads and writes columns 3, 5, 7 and 9 of a matrix, with nonblocking calls.
  subroutine parts_and_requests
    type(plait_layout) :: whole, part
    type(plait_file) :: file
    type(plait_request) :: request
    integer(int64), allocatable :: indices(:)
    real(real64), allocatable, asynchronous :: array(:, :)
    integer :: i, j
    character(60) :: text
    write (text, '(a,i0,a)') '(cyclic, *) onto (', comm%size, ')'
    call plait_parse(part, text, [9, 4])
    indices = part%indices(comm%rank, 1)
    allocate (array(size(indices), 4))
    call plait_open(file, 'matrix.npy', 'r+', comm)
    call plait_start_read(file, part, array, request, first=[1, 3], count=[9, 4], stride=[1, 2])
    call plait_wait(request)
    do j = 1, 4
      do i = 1, size(indices)
        call expect(array(i, j) == indices(i) + 100*(2*j + 1), 'a part')
      end do
    end do
    array = -array
    call plait_start_write(file, part, array, request, first=[1_int64, 3_int64], count=[9, 4], stride=[1, 2])
    do while (.not. plait_test(request))
    end do
    call plait_wait(request)
    call plait_close(file)
    call whole%free()
    call part%free()
  end subroutine

  subroutine logicals_and_bytes
    type(plait_layout) :: layout
    type(plait_file) :: file
    logical(1) :: flags(4)
    integer(int8) :: bytes(4)
    character(3) :: words(4)
    character(60) :: text
    write (text, '(a,i0,a)') '(block(4)) onto (', comm%size, ')'
    call plait_parse(layout, text, [4*comm%size])
    flags = [.true., .false., .true., .true.]
    call plait_open(file, 'flags.bin', 'w', comm, shape=[4*comm%size], element_bytes=1)
    call plait_write(file, layout, flags)
    bytes = 9
    call plait_read(file, layout, bytes)
    call expect(all(bytes == [1, 0, 1, 1]), 'logicals')
    call plait_close(file)
    words = ['one', 'two', 'red', 'sea']
    call plait_open(file, 'words.bin', 'w', comm, shape=[4*comm%size], element_bytes=3)
    call plait_write(file, layout, words)
    call plait_close(file)
    call layout%free()
  end subroutine
end program
