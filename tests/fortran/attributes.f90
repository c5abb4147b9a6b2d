! Attributes of an array in a Zarr folder, changed and read by all ranks.
program attributes
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use plait
  implicit none
  type(plait_comm) :: comm
  type(plait_file) :: file
  type(plait_layout) :: layout
  character(300) :: text
  character(:), allocatable :: word
  integer(int64) :: number, list(3)
  real(real64) :: value, values(2)
  real(real32), allocatable :: elements(:)
  integer :: stat
  text = ''
  call plait_world(comm)
  call plait_parse(layout, '(*) onto ()', [6])
  allocate (elements(6), source=1.0_real32)
  call plait_open(file, 'a.zarr', 'w', comm, shape=[6], dtype='<f4')
  call plait_write(file, layout, elements)
  call plait_close(file)
  call plait_open(file, 'a.zarr', 'r+', comm, order='C')
  call plait_set_attribute(file, 'units', 'K')
  call plait_set_attribute(file, 'count', 7_int32)
  call plait_set_attribute(file, 'large', huge(1_int64))
  call plait_set_attribute(file, 'half', 0.5_real32)
  call plait_set_attribute(file, 'range', [-1.5_real64, 2.5_real64])
  call plait_set_attribute(file, 'list', [1_int64, 2_int64, 3_int64])
  call plait_set_attribute(file, 'gone', [1_int32])
  call plait_remove_attribute(file, 'gone')
  call plait_remove_attribute(file, 'gone', stat, text)
  call expect(stat == 1 .and. index(text, 'no attribute "gone"') > 0, 'plait_remove_attribute')
  call plait_close(file)
  call plait_open(file, 'a.zarr', 'r', comm, order='C')
  call expect(plait_attribute_count(file) == 6, 'plait_attribute_count')
  call expect(len(plait_attribute_name(file, 1)) > 3, 'plait_attribute_name')
  call expect(plait_attribute_size(file, 'list') == 3, 'plait_attribute_size')
  call plait_get_attribute(file, 'units', word)
  call expect(word == 'K', 'a text')
  call plait_get_attribute(file, 'count', number)
  call expect(number == 7, 'an integer')
  call plait_get_attribute(file, 'large', number)
  call expect(number == huge(number), 'a large integer')
  call plait_get_attribute(file, 'half', value)
  call expect(value == 0.5_real64, 'a real')
  call plait_get_attribute(file, 'range', values)
  call expect(all(values == [-1.5_real64, 2.5_real64]), 'reals')
  call plait_get_attribute(file, 'list', list)
  call expect(all(list == [1, 2, 3]), 'integers')
  call plait_get_attribute(file, 'half', number, stat, text)
  call expect(stat == 1 .and. index(text, 'not integers') > 0, 'a real is no integer')
  call plait_set_attribute(file, 'x', 1_int32, stat, text)
  call expect(stat == 1 .and. index(text, 'open for reading') > 0, 'a change in mode r')
  call plait_close(file)
  call comm%free()

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (.not. holds) print *, 'wrong: ', what, ' ', trim(text)
  end subroutine
end program
