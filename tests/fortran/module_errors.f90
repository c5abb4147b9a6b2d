! Mistakes in calls of the module plait: every rank gets a status and a message, and the program continues.
program module_errors
  use plait
  implicit none
  type(plait_comm) :: comm
  type(plait_layout) :: layout, undefined_layout
  type(plait_file) :: file
  integer :: stat, array(6, 4), narrow(6, 3)
  integer(8) :: wide(6, 4)
  real :: reals(6, 4)
  character(300) :: text
  text = ''
  call plait_world(comm, stat)
  call expect(stat == 0, 'plait_world')
  call plait_parse(layout, '(cyc) onto (4)', [4], stat, text)
  call expect(stat == 1 .and. index(text, 'cyc') > 0, 'a layout that cannot be parsed')
  if (comm%size /= 2) error stop 'this program needs 2 ranks'
  call plait_parse(layout, '(block, *) onto (2)', [12, 4], stat)
  call expect(stat == 0, 'a layout')
  call plait_open(file, 'no_such_file', 'r', comm, shape=[12, 4], dtype='<i4', stat=stat, errmsg=text)
  call expect(stat == 2 .and. index(text, 'No such file') > 0, 'no file')
  call plait_open(file, 'file.bin', 'w', comm, shape=[12, 4], element_bytes=4, stat=stat)
  call expect(stat == 0, 'a new file')
  array = 1
  narrow = 1
  wide = 1
  reals = 1
  if (comm%rank == 1) then
    call plait_write(file, layout, narrow, stat=stat, errmsg=text)
  else if (kind(1) == 4) then
    call plait_write(file, layout, array, stat=stat, errmsg=text)
  else
    call plait_write(file, layout, reals, stat=stat, errmsg=text)
  end if
  call expect(stat == 1 .and. index(text, 'has the shape 6x3, but the layout says 6x4') > 0 &
    .and. index(text, '(on rank 1)') > 0, 'a shape')
  call plait_write(file, layout, wide, stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'have 8 bytes, those of the file 4') > 0, 'a type')
  call plait_write(file, undefined_layout, reals, stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'plait_parse') > 0, 'no layout')
  call plait_write(file, layout, reals, first=[3, 0], count=[12, 4], stat=stat)
  call expect(stat == 1, 'a region')
  call plait_write(file, layout, reals, stat=stat)
  call expect(stat == 0, 'a write without a mistake')
  call plait_close(file, stat)
  call expect(stat == 0, 'closed')
  call plait_open(file, 'again.bin', 'w', comm, shape=[12, 4], element_bytes=4)
  call plait_abandon(file, stat)
  call expect(stat == 0, 'abandoned')
  call plait_close(file)   ! has no effect
contains
  ! Ends the program with an error that states `what` if a condition does not hold.
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print *, 'rank', comm%rank, ': ', what, ': ', stat, trim(text)
    error stop 1
  end subroutine
end program
