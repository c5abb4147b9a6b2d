! Two clouds drift in the wind and spread.  Writes their density, step by step, to the name on the command line: of a
! file, of stripes over disks, or of a pipe to another program.
program simulation
  use plait
  implicit none
  integer, parameter :: rows = 120, columns = 160, steps = 20
  type(plait_comm) :: comm
  type(plait_layout) :: tiles
  type(plait_file) :: file
  real(8), allocatable :: density(:, :)
  integer(8), allocatable :: extents(:), i(:), j(:)
  real(8) :: time
  integer :: step, row, column, stat
  character(500) :: name, message

  name = 'field.npy'
  if (command_argument_count() > 0) call get_command_argument(1, name)
  call plait_world(comm)
  call plait_parse(tiles, '(block, block) onto (2, 2)', [rows, columns])
  extents = tiles%local_shape(comm%rank)
  i = tiles%indices(comm%rank, 1)
  j = tiles%indices(comm%rank, 2)
  allocate (density(extents(1), extents(2)))

  call plait_open(file, name, 'w', comm, shape=[rows, columns], dtype='<f8', stat=stat, errmsg=message)
  if (stat /= 0) error stop trim(message)
  do step = 0, steps - 1
    time = 0.5d0*step
    do column = 1, size(j)
      do row = 1, size(i)
        density(row, column) = cloud(30, 40, 8d0) + cloud(70, 20, 5d0)
      end do
    end do
    call plait_put(file, 'time', time)
    call plait_begin_step(file)
    call plait_write(file, tiles, density)
    call plait_end_step(file)
  end do
  call plait_close(file)
  if (comm%rank == 0) print '(i0, 3a, f0.1)', steps, ' steps to ', trim(name), ', the last one of time ', time
  call comm%free()

contains

  !> The density of a cloud of this width after diffusion and wind; the formula is exact, so no rank needs neighbours.
  pure real(8) function cloud(from_row, from_column, width)
    integer, intent(in) :: from_row, from_column
    real(8), intent(in) :: width
    real(8) :: spread
    spread = width**2 + 10*time
    cloud = width**2/spread*exp(-((i(row) - from_row - 3*time)**2 + (j(column) - from_column - 8*time)**2)/spread)
  end function
end program
