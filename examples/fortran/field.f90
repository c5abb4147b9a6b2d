! Writes a field distributed in blocks of rows and columns; reads it back distributed column by column.
program field
  use plait
  implicit none
  type(plait_comm) :: comm
  type(plait_layout) :: tiles, columns
  type(plait_file) :: file
  real(8), allocatable :: local(:, :)
  integer :: i, j

  call plait_world(comm)   ! all ranks; starts MPI if the program has not
  call plait_parse(tiles, '(block, block) onto (2, 2)', [6, 8])
  associate (n => tiles%local_shape(comm%rank), &
      rows => tiles%indices(comm%rank, 1), cols => tiles%indices(comm%rank, 2))
    allocate (local(n(1), n(2)))
    do j = 1, size(cols)
      do i = 1, size(rows)
        local(i, j) = 10*rows(i) + cols(j)
      end do
    end do
  end associate
  call plait_open(file, 'field.npy', 'w', comm, shape=[6, 8], dtype='<f8')
  call plait_write(file, tiles, local)
  call plait_close(file)   ! the file gets its name now

  call plait_parse(columns, '(*, cyclic) onto (4)', [6, 8])
  deallocate (local)
  allocate (local(6, 2))
  call plait_open(file, 'field.npy', 'r', comm)
  call plait_read(file, columns, local)
  call plait_close(file)
  if (comm%rank == 1) print '(a, 6f6.0)', 'column 6:', local(:, 2)
  call comm%free()
end program
