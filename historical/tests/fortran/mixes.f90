! Writes and reads arrays under mappings that test_fortran_primitives.py generates.  Each rank reads cases<rank>, which
! has the mappings for writing and for reading each array.  It reads the values of its part from in<case>_<rank>, writes
! the array by the primitives, reads it back, and writes its part to ou<case>_<rank>.  Uses default integers, and no
! explicit interfaces.
program mixes
  implicit none
  external :: popen, pclose, proc_map, pread, pwrite
  integer, external :: array_map, plait_status
  integer :: lists(7, 4), mode, processors, user_map(64), size1, size2, io_size, cases, case, pass, ad, rank, disks
  integer, allocatable :: array(:, :)
  character(40) :: name
  integer :: input, local
  call get_environment_variable('PMI_RANK', name, input)
  if (input == 0) call get_environment_variable('OMPI_COMM_WORLD_RANK', name, input)
  rank = 0
  if (input > 0) read (name, *) rank
  write (name, '(a,i0)') 'cases', rank
  open (newunit=input, file=name, status='old')
  read (input, *) cases
  do case = 1, cases
    do pass = 0, 1
      read (input, *) lists, mode, processors, io_size, size1, size2
      read (input, *) user_map(1:size(user_map))
      allocate (array(size1, size2), source=-1)
      write (name, '(a,i0,a,i0)') 'in', case, '_', rank
      if (pass == 1) name(1:2) = 'ou'
      open (newunit=local, file=name, access='stream', form='unformatted')
      if (pass == 0) read (local) array
      call proc_map(lists(1, 4), mode, user_map)
      ad = array_map('MIX', lists(1, 1), lists(1, 2), lists(1, 3), lists(1, 4))
      write (name, '(a,i0)') 'whole', case
      disks = -1
      call popen(case, name, mod(case, 2), 0, 1 - pass, disks, processors)
      if (pass == 0) call pwrite(array, size1, size2, ad, case, array, io_size)
      if (pass == 1) call pread(array, size1, size2, ad, case, array, io_size)
      if (plait_status() /= 0) error stop 'no access'
      call pclose(case)
      if (plait_status() /= 0) error stop 'not closed'
      if (pass == 1) write (local) array
      close (local)
      deallocate (array)
    end do
  end do
end program
