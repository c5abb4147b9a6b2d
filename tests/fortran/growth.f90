! Arrays that all ranks extend through the module plait.
program growth
  use plait
  implicit none
  type(plait_comm) :: comm
  type(plait_layout) :: layout
  type(plait_file) :: file
  integer :: day, stat
  real, allocatable :: block(:, :)
  character(200) :: text, message
  call plait_world(comm)
  write (text, '(a,i0,a)') '(block, *) onto (', comm%size, ')'
  call plait_parse(layout, text, [6, 1])
  do day = 1, 4
    call plait_open(file, 'growth.zarr', 'a', comm, shape=[6, 0], dtype='<f4')
    allocate (block(size(layout%indices(comm%rank, 1)), 1))
    block = day
    call plait_append(file, layout, block, 2)
    deallocate (block)
    if (day == 4) call plait_resize(file, [6, 5])
    if (any(file%shape() /= [6, merge(5, day, day == 4)])) error stop 'wrong shape'
    call plait_close(file)
  end do
  call plait_open(file, 'growth.zarr', 'a', comm)
  allocate (block(size(layout%indices(comm%rank, 1)), 1))
  call plait_append(file, layout, block, 0, stat, message)
  if (stat == 0 .or. index(message, 'dimensions are counted from 1') == 0) error stop 'axis 0 was accepted'
  call plait_resize(file, [6.0, 4.0], stat, message)
  if (stat /= 1 .or. index(message, 'shape must be integers of 8 to 64 bits') == 0) &
    error stop 'a real shape was accepted'
  if (any(file%shape() /= [6, 5])) error stop 'an error changed the shape'
  call plait_close(file)
  ! growth.h5 has a dataset of 3 columns, whose number is unlimited.
  call plait_open(file, 'growth.h5::/v', 'a', comm)
  block = 7
  call plait_append(file, layout, block, 2)
  call plait_close(file)
  ! The file gets another dataset.
  call plait_open(file, 'growth.h5::/g/w', 'a', comm, shape=[6, 1], dtype='<f4', order='C')
  block = 8
  call plait_write(file, layout, block)
  call plait_close(file)
  call comm%free()
end program
