! Steps of pipes, of the module plait: the arrays that are written or read between plait_begin_step and plait_end_step.
module plait_steps
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use plait_core
  use plait_c, only: c_fail, c_text_free
  use plait_files
  implicit none
  private
  public :: plait_begin_step, plait_end_step, plait_step_number, plait_put, plait_get
  public :: plait_select_variable, plait_define_variable, plait_variables, plait_variable_name

  !> Sets an attribute, a named integer, real or text, of the step that begins next.
  interface plait_put
    module procedure put_int32, put_int64, put_real32, put_real64, put_text
  end interface
  !> Gets the value of an attribute of the step that began last.
  interface plait_get
    module procedure get_int32, get_int64, get_real32, get_real64, get_text
  end interface

  interface
    integer(c_int) function c_put_integer(file, name, value) bind(c, name='plait_put_integer')
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
    end function
    integer(c_int) function c_put_real(file, name, value) bind(c, name='plait_put_real')
      import :: c_int, c_double, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
    end function
    integer(c_int) function c_put_text(file, name, value) bind(c, name='plait_put_text')
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*), value(*)
    end function
    integer(c_int) function c_begin_step(file, more) bind(c, name='plait_begin_step')
      import :: c_int, c_ptr
      type(c_ptr), value :: file
      integer(c_int), intent(inout) :: more
    end function
    integer(c_int) function c_end_step(file) bind(c, name='plait_end_step')
      import :: c_int, c_ptr
      type(c_ptr), value :: file
    end function
    integer(c_int) function c_step_number(file, number) bind(c, name='plait_step_number')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int64_t), intent(inout) :: number
    end function
    integer(c_int) function c_get_integer(file, name, value) bind(c, name='plait_get_integer')
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: value
    end function
    integer(c_int) function c_get_real(file, name, value) bind(c, name='plait_get_real')
      import :: c_int, c_double, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(inout) :: value
    end function
    integer(c_int) function c_get_text(file, name, value) bind(c, name='plait_get_text')
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: value
    end function
    integer(c_int) function c_select(file, name) bind(c, name='plait_select_variable')
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_define(file, name, dimensions, shape, dtype, element_bytes) &
        bind(c, name='plait_define_variable')
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*), dtype(*)
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int64_t), value :: element_bytes
    end function
    integer(c_int) function c_variables(file, count) bind(c, name='plait_variables')
      import :: c_int, c_ptr
      type(c_ptr), value :: file
      integer(c_int), intent(inout) :: count
    end function
    integer(c_int) function c_variable_name(file, number, name) bind(c, name='plait_variable_name')
      import :: c_int, c_ptr
      type(c_ptr), value :: file
      integer(c_int), value :: number
      type(c_ptr), intent(inout) :: name
    end function
  end interface

contains

  !> Begins a step: a writer waits until the queue has capacity for it, a reader until the next step has arrived. `more`
  !> is false for a reader if no more steps will come. Collective.
  subroutine plait_begin_step(file, more, stat, errmsg)
    type(plait_file), intent(in) :: file
    logical, intent(out), optional :: more
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: found, status
    found = 0
    status = c_begin_step(found_file(file%handle), found)
    if (present(more)) more = found /= 0
    call report(status, stat, errmsg, report_rank(file))
  end subroutine

  !> Ends the step: a writer passes it to the readers; a reader releases it.  Collective.
  subroutine plait_end_step(file, stat, errmsg)
    type(plait_file), intent(in) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_end_step(found_file(file%handle)), stat, errmsg, report_rank(file))
  end subroutine

  !> Returns the number of the step that began last, counted from 1; 0 after an error.
  integer(c_int64_t) function plait_step_number(file, stat, errmsg)
    type(plait_file), intent(in) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    plait_step_number = -1
    call report(c_step_number(found_file(file%handle), plait_step_number), stat, errmsg)
    plait_step_number = plait_step_number + 1
  end function

  !> Makes the following accesses refer to the array of this name in the step. Before the first call it is "data".
  subroutine plait_select_variable(file, name, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_select(found_file(file%handle), c_text(name)), stat, errmsg)
  end subroutine

  !> Selects an array that the writer has not selected before, with its shape, and its dtype in the notation of .npy
  !> files.
  subroutine plait_define_variable(file, name, shape, dtype, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name, dtype
    class(*), intent(in) :: shape(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: extents(:)
    logical :: valid
    call to_int64s(shape, extents, valid)
    ! No array has -1 dimensions, so the C function rejects an invalid shape.
    call report(c_define(found_file(file%handle), c_text(name), merge(size(extents, kind=c_int), -1_c_int, valid), &
      extents, c_text(dtype), 0_c_int64_t), stat, errmsg)
  end subroutine

  !> Returns the number of arrays of the step.
  integer function plait_variables(file, stat, errmsg)
    type(plait_file), intent(in) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: count
    count = 0
    call report(c_variables(found_file(file%handle), count), stat, errmsg)
    plait_variables = count
  end function

  !> Returns the name of an array, counted from 1 in the order in which the arrays were written.
  function plait_variable_name(file, number, stat, errmsg) result(name)
    type(plait_file), intent(in) :: file
    integer, intent(in) :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: name
    type(c_ptr) :: raw
    integer(c_int) :: ignored
    raw = c_null_ptr
    call report(c_variable_name(found_file(file%handle), int(number - 1, c_int), raw), stat, errmsg)
    name = plait_to_text(raw)
    ignored = c_text_free(raw)
  end function

  subroutine put_int32(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(int32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_int64(file, name, int(value, int64), stat, errmsg)
  end subroutine

  subroutine put_int64(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(int64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_put_integer(found_file(file%handle), c_text(name), value), stat, errmsg)
  end subroutine

  subroutine put_real32(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    real(real32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call put_real64(file, name, real(value, real64), stat, errmsg)
  end subroutine

  subroutine put_real64(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_put_real(found_file(file%handle), c_text(name), value), stat, errmsg)
  end subroutine

  subroutine put_text(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name, value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_put_text(found_file(file%handle), c_text(name), c_text(value)), stat, errmsg)
  end subroutine

  subroutine get_int32(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(int32), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: wide
    wide = value
    call get_int64(file, name, wide, stat, errmsg)
    if (wide > huge(value) .or. wide < -int(huge(value), int64) - 1) then
      call report(c_fail(c_text('the attribute "' // trim(name) // &
        '" has more than 32 bits; get it as integer(int64)')), &
        stat, errmsg)
    else
      value = int(wide, int32)
    end if
  end subroutine

  subroutine get_int64(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    integer(int64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_get_integer(found_file(file%handle), c_text(name), value), stat, errmsg)
  end subroutine

  subroutine get_real32(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    real(real32), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64) :: wide
    wide = value
    call get_real64(file, name, wide, stat, errmsg)
    value = real(wide, real32)
  end subroutine

  subroutine get_real64(file, name, value, stat, errmsg)
    type(plait_file), intent(in) :: file
    character(*), intent(in) :: name
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_get_real(found_file(file%handle), c_text(name), value), stat, errmsg)
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
    status = c_get_text(found_file(file%handle), c_text(name), raw)
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
