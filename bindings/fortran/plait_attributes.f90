! Attributes of arrays in files, of the module plait: read in every mode, changed in mode "r+" for HDF5, netCDF-4 and
! Zarr.
module plait_attributes
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use plait_core
  use plait_c, only: c_text_free
  use plait_files
  implicit none
  private
  public :: plait_attribute_count, plait_attribute_name, plait_attribute_size
  public :: plait_set_attribute, plait_get_attribute, plait_remove_attribute

  !> Adds or replaces an attribute of the array: an integer, a real, a text, or a list of numbers. It is written when
  !> the file is closed. Collective.
  interface plait_set_attribute
    module procedure set_int32, set_int64, set_real32, set_real64, set_text
    module procedure set_int32_list, set_int64_list, set_real32_list, set_real64_list
  end interface
  !> Gets the value of an attribute of the array: an integer, a real, a text, or as many numbers as plait_attribute_size
  !> returns.
  interface plait_get_attribute
    module procedure get_int64, get_real64, get_text, get_int64_list, get_real64_list
  end interface

  interface
    integer(c_int) function c_count(file, count) bind(c, name='plait_file_attributes')
      import :: c_int, c_ptr
      type(c_ptr), value :: file
      integer(c_int), intent(inout) :: count
    end function
    integer(c_int) function c_name(file, number, name) bind(c, name='plait_file_attribute_name')
      import :: c_int, c_ptr
      type(c_ptr), value :: file
      integer(c_int), value :: number
      type(c_ptr), intent(inout) :: name
    end function
    integer(c_int) function c_type(file, name, dtype, dimensions, count) bind(c, name='plait_file_attribute_type')
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: file, dtype, dimensions
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: count
    end function
    integer(c_int) function c_integers(file, name, values, capacity) bind(c, name='plait_file_attribute_integers')
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: values(*)
      integer(c_int64_t), value :: capacity
    end function
    integer(c_int) function c_reals(file, name, values, capacity) bind(c, name='plait_file_attribute_reals')
      import :: c_int, c_int64_t, c_double, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(inout) :: values(*)
      integer(c_int64_t), value :: capacity
    end function
    integer(c_int) function c_get_text(file, name, number, text) bind(c, name='plait_file_attribute_text')
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: number
      type(c_ptr), intent(inout) :: text
    end function
    integer(c_int) function c_set(file, name, dtype, dimensions, shape, values) bind(c, name='plait_file_set_attribute')
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: file, values
      character(kind=c_char), intent(in) :: name(*), dtype(*)
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: shape(*)
    end function
    integer(c_int) function c_set_text(file, name, text) bind(c, name='plait_file_set_attribute_text')
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*), text(*)
    end function
    integer(c_int) function c_remove(file, name) bind(c, name='plait_file_remove_attribute')
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
    end function
  end interface

contains

  !> Returns the number of attributes of the array.
  integer function plait_attribute_count(file, stat, errmsg)
    type(plait_file), intent(in) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: count
    count = 0
    call report(c_count(found_file(file%handle), count), stat, errmsg)
    plait_attribute_count = count
  end function

  !> Returns the name of an attribute, counted from 1.
  function plait_attribute_name(file, number, stat, errmsg) result(name)
    type(plait_file), intent(in) :: file
    integer, intent(in) :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: name
    type(c_ptr) :: raw
    integer(c_int) :: ignored
    raw = c_null_ptr
    call report(c_name(found_file(file%handle), int(number - 1, c_int), raw), stat, errmsg)
    name = plait_to_text(raw)
    ignored = c_text_free(raw)
  end function

  !> Returns the number of values of an attribute; 0 after an error.
  integer(int64) function plait_attribute_size(file, name, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    plait_attribute_size = 0
    call report(c_type(found_file(file%handle), c_text(name), c_null_ptr, c_null_ptr, plait_attribute_size), stat, &
      errmsg)
  end function

  !> Removes an attribute.  Collective.
  subroutine plait_remove_attribute(file, name, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_remove(found_file(file%handle), c_text(name)), stat, errmsg, report_rank(file))
  end subroutine

  subroutine set_int32(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(int32), intent(in), target :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call set_raw(file, name, '<i4', [integer(int64) ::], c_loc(value), stat, errmsg)
  end subroutine

  subroutine set_int64(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(int64), intent(in), target :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call set_raw(file, name, '<i8', [integer(int64) ::], c_loc(value), stat, errmsg)
  end subroutine

  subroutine set_real32(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    real(real32), intent(in), target :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call set_raw(file, name, '<f4', [integer(int64) ::], c_loc(value), stat, errmsg)
  end subroutine

  subroutine set_real64(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    real(real64), intent(in), target :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call set_raw(file, name, '<f8', [integer(int64) ::], c_loc(value), stat, errmsg)
  end subroutine

  subroutine set_int32_list(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(int32), intent(in) :: value(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int32), allocatable, target :: dense(:)
    dense = value
    call set_raw(file, name, '<i4', [size(value, kind=int64)], c_loc(dense), stat, errmsg)
  end subroutine

  subroutine set_int64_list(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(int64), intent(in) :: value(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: dense(:)
    dense = value
    call set_raw(file, name, '<i8', [size(value, kind=int64)], c_loc(dense), stat, errmsg)
  end subroutine

  subroutine set_real32_list(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    real(real32), intent(in) :: value(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real32), allocatable, target :: dense(:)
    dense = value
    call set_raw(file, name, '<f4', [size(value, kind=int64)], c_loc(dense), stat, errmsg)
  end subroutine

  subroutine set_real64_list(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    real(real64), intent(in) :: value(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), allocatable, target :: dense(:)
    dense = value
    call set_raw(file, name, '<f8', [size(value, kind=int64)], c_loc(dense), stat, errmsg)
  end subroutine

  subroutine set_raw(file, name, dtype, shape, values, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name, dtype
    integer(int64), intent(in) :: shape(:)
    type(c_ptr), intent(in) :: values
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_set(found_file(file%handle), c_text(name), c_text(dtype), size(shape, kind=c_int), shape, values), &
      stat, errmsg, report_rank(file))
  end subroutine

  subroutine set_text(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name, value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_set_text(found_file(file%handle), c_text(name), c_text(value)), stat, errmsg, report_rank(file))
  end subroutine

  subroutine get_int64(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(int64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: one(1)
    one = value
    call report(c_integers(found_file(file%handle), c_text(name), one, 1_c_int64_t), stat, errmsg)
    value = one(1)
  end subroutine

  subroutine get_real64(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64) :: one(1)
    one = value
    call report(c_reals(found_file(file%handle), c_text(name), one, 1_c_int64_t), stat, errmsg)
    value = one(1)
  end subroutine

  subroutine get_int64_list(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(int64), intent(inout) :: value(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_integers(found_file(file%handle), c_text(name), value, size(value, kind=int64)), stat, errmsg)
  end subroutine

  subroutine get_real64_list(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    real(real64), intent(inout) :: value(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_reals(found_file(file%handle), c_text(name), value, size(value, kind=int64)), stat, errmsg)
  end subroutine

  subroutine get_text(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    character(:), allocatable, intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: raw
    integer(c_int) :: status, ignored
    raw = c_null_ptr
    status = c_get_text(found_file(file%handle), c_text(name), 0_c_int64_t, raw)
    if (status == 0) then
      value = plait_to_text(raw)
      ignored = c_text_free(raw)
    end if
    call report(status, stat, errmsg)
  end subroutine

  !> Returns the argument `rank` of report() for collective calls on a file.
  pure integer function report_rank(file)
    type(plait_file), intent(in) :: file
    report_rank = merge(not_collective, file%rank, file%alone)
  end function
end module
