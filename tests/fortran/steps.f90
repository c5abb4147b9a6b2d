! One end of a pipe: `steps write NAME` or `steps read NAME`, on any number of ranks.
program steps
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, real32, real64
  use plait
  implicit none
  type(plait_comm) :: comm
  type(plait_file) :: file
  character(300) :: role, name, text
  character(:), allocatable :: word
  integer :: stat
  logical :: more
  text = ''
  call get_command_argument(1, role)
  call get_command_argument(2, name)
  call plait_world(comm)
  if (role == 'write') then
    call write_steps
  else
    call read_steps
  end if
  call plait_close(file, stat, text)
  call expect(stat == 0, 'plait_close')
  call comm%free()

contains

  subroutine write_steps
    type(plait_layout) :: rows, everywhere
    integer(int32), allocatable :: field(:, :)
    integer(int64), allocatable :: indices(:)
    real(real32) :: pressure(3)
    integer :: step, i, j
    call plait_parse(rows, layout_text('(cyclic, *)'), [7, 4])
    call plait_parse(everywhere, '(*) onto ()', [3])
    indices = rows%indices(comm%rank, 1)
    allocate (field(size(indices), 4))
    call plait_open(file, name, 'w', comm, shape=[7, 4], dtype='<i4', stat=stat)
    call expect(stat == 0, 'plait_open')
    call plait_end_step(file, stat, text)
    call expect(stat == 1 .and. index(text, 'no step has begun') > 0, 'no step')
    call plait_select_variable(file, 'pressure', stat, text)
    call expect(stat == 1 .and. index(text, 'is new') > 0, 'a new variable')
    call plait_define_variable(file, 'pressure', [3.5], '<f4', stat)
    call expect(stat == 1, 'a shape of reals')
    do step = 1, 3
      do j = 1, 4
        do i = 1, size(indices)
          field(i, j) = int(1000*step + 10*indices(i) + j, int32)
        end do
      end do
      pressure = [step + 0.5, -1.0, 7.25]
      call plait_put(file, 'count', int(step, int32), stat)
      call expect(stat == 0, 'plait_put')
      call plait_put(file, 'large', 2_int64**40 + step)
      call plait_put(file, 'half', 0.5_real32*step)
      call plait_put(file, 'time', 0.1_real64*step)
      call plait_put(file, 'name', 'rank 0  ')
      if (comm%rank > 0) call plait_put(file, 'name', 'another rank')   ! only the attributes of rank 0 count
      call plait_begin_step(file, more, stat)
      call expect(stat == 0 .and. more .and. plait_step_number(file) == step, 'plait_begin_step')
      call plait_begin_step(file, more, stat, text)
      call expect(stat == 1 .and. index(text, 'has not ended') > 0, 'a step in a step')
      call plait_write(file, rows, field, stat=stat)
      call expect(stat == 0, 'plait_write')
      if (step == 1) then
        call plait_define_variable(file, 'pressure', [3], '<f4', stat)
      else
        call plait_select_variable(file, 'pressure', stat)
      end if
      call expect(stat == 0, 'a variable')
      call plait_write(file, everywhere, pressure, stat=stat)
      call expect(stat == 0, 'plait_write of a variable')
      call plait_read(file, everywhere, pressure, stat=stat, errmsg=text)
      call expect(stat == 1 .and. index(text, 'open for writing') > 0, 'a read from a writer')
      call plait_select_variable(file, 'data', stat)
      call expect(stat == 0, 'back to the first variable')
      call plait_end_step(file, stat)
      call expect(stat == 0, 'plait_end_step')
    end do
    call plait_write(file, rows, field, stat=stat)   ! outside a step, a write is a step of its own
    call expect(stat == 0, 'a step of one write')
  end subroutine

  subroutine read_steps
    type(plait_layout) :: columns, box, everywhere
    integer(int32), allocatable :: field(:, :)
    integer(int64), allocatable :: indices(:)
    integer(int32) :: count
    integer(int64) :: large, step
    integer(int16) :: narrow(3)
    real(real32) :: half, pressure(3)
    real(real64) :: time
    integer :: i, j
    call plait_parse(columns, layout_text('(*, cyclic)'), [7, 4])
    call plait_parse(box, layout_text('(*, block)'), [2, 3])
    call plait_parse(everywhere, layout_text('(*)') // ' replicate=(0)', [3])
    call plait_open(file, name, 'r', comm, stat=stat)
    call expect(stat == 0, 'plait_open')
    call expect(all_equal(file%shape(), [7, 4]) .and. file%dtype() == '<i4', 'the shape and dtype of the file')
    call plait_put(file, 'count', 1, stat, text)
    call expect(stat == 1 .and. index(text, 'open for reading') > 0, 'an attribute of a reader')
    do step = 1, 3
      call plait_begin_step(file, more, stat)
      call expect(stat == 0 .and. more .and. plait_step_number(file) == step, 'plait_begin_step')
      call plait_get(file, 'count', count, stat)
      call expect(stat == 0 .and. count == step, 'an integer')
      call plait_get(file, 'large', count, stat, text)
      call expect(stat == 1 .and. count == step .and. index(text, '32 bits') > 0, 'an integer that is too large')
      call plait_get(file, 'large', large)
      call expect(large == 2_int64**40 + step, 'a large integer')
      call plait_get(file, 'half', half)
      call expect(half == 0.5*step, 'a real')
      call plait_get(file, 'time', time)
      call expect(time == 0.1_real64*step, 'a double')
      call plait_get(file, 'count', time)
      call expect(time == step, 'an integer as a real')
      call plait_get(file, 'name', word)
      call expect(word == 'rank 0' .and. len(word) == 6, 'a text')
      call plait_get(file, 'time', count, stat, text)
      call expect(stat == 1 .and. count == step .and. index(text, 'is a real, but an integer') > 0, 'another type')
      call plait_get(file, 'time', word, stat)
      call expect(stat == 1 .and. word == 'rank 0', 'no text')
      call plait_get(file, 'size', time, stat, text)
      call expect(stat == 1 .and. index(text, 'it has count, half, large, name, time') > 0, 'no attribute')
      call expect(plait_variables(file) == 2, 'plait_variables')
      word = plait_variable_name(file, 2)
      call expect(plait_variable_name(file, 1) == 'data' .and. word == 'pressure', 'plait_variable_name')
      word = plait_variable_name(file, 3, stat)
      call expect(stat == 1 .and. len(word) == 0, 'no third variable')

      indices = columns%indices(comm%rank, 2)
      if (allocated(field)) deallocate (field)
      allocate (field(7, size(indices)), source=0_int32)
      call plait_read(file, columns, field, stat=stat)
      call expect(stat == 0, 'plait_read')
      do j = 1, size(indices)
        call expect(all(field(:, j) == [(1000*step + 10*i + indices(j), i = 1, 7)]), 'columns')
      end do
      indices = box%indices(comm%rank, 2)
      deallocate (field)
      allocate (field(2, size(indices)), source=0_int32)
      call plait_read(file, box, field, first=[6, 2], count=[2, 3], stat=stat)
      call expect(stat == 0, 'a region')
      do j = 1, size(indices)
        call expect(all(field(:, j) == 1000*step + 10*[6, 7] + indices(j) + 1), 'the elements of the region')
      end do
      call plait_read(file, box, field, first=[7, 2], count=[2, 3], stat=stat)
      call expect(stat == 1, 'a region outside of the array')
      call plait_read(file, box, field, first=[0, 2], count=[2, 3], stat=stat)
      call expect(stat == 1, 'a region before the array')

      call plait_select_variable(file, 'heat', stat, text)
      call expect(stat == 1 .and. index(text, 'which has: data, pressure') > 0, 'no such variable')
      call plait_select_variable(file, 'pressure', stat)
      call expect(stat == 0 .and. all_equal(file%shape(), [3]) .and. file%dtype() == '<f4', 'a variable')
      call plait_read(file, everywhere, narrow, stat=stat)
      call expect(stat == 1, 'elements of another size')
      call plait_read(file, everywhere, pressure, stat=stat)
      call expect(stat == 0 .and. all(pressure == [step + 0.5, -1.0, 7.25]), 'the elements of a variable')
      call plait_select_variable(file, 'data')
      call plait_end_step(file, stat)
      call expect(stat == 0, 'plait_end_step')
    end do
    deallocate (field)
    indices = columns%indices(comm%rank, 2)
    allocate (field(7, size(indices)), source=0_int32)
    call plait_read(file, columns, field, stat=stat)   ! without plait_begin_step
    call expect(stat == 0, 'the last step')
    do j = 1, size(indices)
      call expect(all(field(:, j) == [(3000 + 10*i + indices(j), i = 1, 7)]), 'the columns of the last step')
    end do
    call plait_begin_step(file, more, stat)
    call expect(stat == 0 .and. .not. more, 'the end')
    call plait_read(file, columns, field, stat=stat, errmsg=text)
    call expect(stat == 2 .and. index(text, 'no more steps') > 0, 'a read after the last step')
  end subroutine

  function layout_text(distribution) result(text)
    character(*), intent(in) :: distribution
    character(:), allocatable :: text
    text = distribution // ' onto (' // digits(comm%size) // ')'
  end function

  function digits(number) result(text)
    integer, intent(in) :: number
    character(:), allocatable :: text
    character(20) :: letters
    write (letters, '(i0)') number
    text = trim(letters)
  end function

  pure logical function all_equal(found, expected)
    integer(int64), intent(in) :: found(:)
    integer, intent(in) :: expected(:)
    all_equal = size(found) == size(expected)
    if (all_equal) all_equal = all(found == expected)
  end function

  ! Ends the program with an error that states `what` if a condition does not hold.
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (.not. holds) then
      print '(a, i0, 5a)', 'rank ', comm%rank, ', ', trim(role), ': not as expected: ', what, ': ' // trim(text)
      error stop 1
    end if
  end subroutine
end program
