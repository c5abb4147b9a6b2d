! Files and requests of the module plait.
module plait_files
  use, intrinsic :: iso_c_binding
  use plait_core
  use plait_c, only: c_text_free
  implicit none
  private
  public :: found_file, found_request
  public :: plait_file, plait_request, plait_open, plait_close, plait_abandon, plait_append, plait_resize
  public :: plait_read, plait_write, plait_start_read, plait_start_write, plait_wait, plait_test

  !> An open file.
  type :: plait_file
    type(c_ptr) :: handle = c_null_ptr
    integer :: rank = 0
    logical :: alone = .true.
  contains
    procedure :: shape => file_shape
    procedure :: dtype => file_dtype
    procedure, private :: report_rank
  end type

  !> An access that was started.
  type :: plait_request
    type(c_ptr) :: handle = c_null_ptr
    integer :: rank = not_collective   !< the rank argument of report() for this object
  end type

  interface
    integer(c_int) function c_open(url, mode, comm, dimensions, shape, dtype, element_bytes, order, offset, memory, &
        strategy, readers, durable, wrong, file) bind(c, name='plait_fortran_open')
      import :: c_int, c_int64_t, c_ptr, c_char
      character(kind=c_char), intent(in) :: url(*), mode(*), dtype(*), order(*), strategy(*), wrong(*)
      type(c_ptr), value :: comm
      integer(c_int), value :: dimensions, durable
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int64_t), value :: element_bytes, offset, memory, readers
      type(c_ptr), intent(inout) :: file
    end function
    integer(c_int) function c_close(file) bind(c, name='plait_fortran_close')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: file
    end function
    integer(c_int) function c_abandon(file) bind(c, name='plait_fortran_abandon')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: file
    end function
    integer(c_int) function c_access(file, layout, array, rank, alone, slices, first, count, stride, fill_halo, write, &
        wrong, request) bind(c, name='plait_fortran_access')
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: file, layout
      type(*), dimension(..) :: array
      integer(c_int), value :: rank, alone, slices, fill_halo, write
      integer(c_int64_t), intent(in) :: first(*), count(*), stride(*)
      character(kind=c_char), intent(in) :: wrong(*)
      type(c_ptr), value :: request   ! the address of a handle, or null
    end function
    integer(c_int) function c_append(file, layout, array, rank, alone, axis, wrong) &
        bind(c, name='plait_fortran_append')
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: file, layout
      type(*), dimension(..), intent(in) :: array
      integer(c_int), value :: rank, alone, axis
      character(kind=c_char), intent(in) :: wrong(*)
    end function
    integer(c_int) function c_resize(file, dimensions, shape, wrong) bind(c, name='plait_fortran_resize')
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: file
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: shape(*)
      character(kind=c_char), intent(in) :: wrong(*)
    end function
    function found_file(file) result(found) bind(c, name='plait_fortran_file')
      import :: c_ptr
      type(c_ptr), value :: file
      type(c_ptr) :: found
    end function
    function found_request(request) result(found) bind(c, name='plait_fortran_request')
      import :: c_ptr
      type(c_ptr), value :: request
      type(c_ptr) :: found
    end function
    integer(c_int) function c_elements(request, elements) bind(c, name='plait_request_elements')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: request
      integer(c_int64_t), intent(inout) :: elements
    end function
    integer(c_int) function c_file_dimensions(file, dimensions) bind(c, name='plait_file_dimensions')
      import :: c_int, c_ptr
      type(c_ptr), value :: file
      integer(c_int), intent(inout) :: dimensions
    end function
    integer(c_int) function c_file_shape(file, capacity, shape) bind(c, name='plait_file_shape')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int), value :: capacity
      integer(c_int64_t), intent(inout) :: shape(*)
    end function
    integer(c_int) function c_file_dtype(file, dtype) bind(c, name='plait_file_dtype')
      import :: c_int, c_ptr
      type(c_ptr), value :: file
      type(c_ptr), intent(inout) :: dtype
    end function
    integer(c_int) function c_wait(request) bind(c, name='plait_fortran_wait')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: request
    end function
    integer(c_int) function c_test(request, done) bind(c, name='plait_request_test')
      import :: c_int, c_ptr
      type(c_ptr), value :: request
      integer(c_int), intent(out) :: done
    end function
  end interface
contains
  !> Opens an array file in mode 'r', 'w' (a new file, whole at plait_close), 'r+' or 'a' (to extend it). Collective.
  subroutine plait_open(file, url, mode, comm, shape, dtype, element_bytes, order, offset, memory, strategy, readers, &
      durable, stat, errmsg)
    type(plait_file), intent(inout) :: file            !< must not be open
    character(*), intent(in) :: url, mode
    type(plait_comm), intent(in) :: comm
    class(*), intent(in), optional :: shape(:)          !< integers of 8 to 64 bits; for new and raw files
    character(*), intent(in), optional :: dtype         !< type in the notation of .npy files: '<f8', '<i4', '<c16'
    integer, intent(in), optional :: element_bytes      !< instead of dtype, for raw files
    character(*), intent(in), optional :: order         !< order of the array in a new or raw file; default 'F'
    integer(c_int64_t), intent(in), optional :: offset  !< raw files: offset of the array in bytes
    integer(c_int64_t), intent(in), optional :: memory  !< upper limit of a rank's staging memory, in bytes
    character(*), intent(in), optional :: strategy      !< 'direct', 'two-phase' or 'automatic'
    integer, intent(in), optional :: readers            !< ranks that access the file in two-phase accesses
    logical, intent(in), optional :: durable            !< .false.: plait_close does not sync; default PLAIT_DURABLE
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: extents(:)
    integer(c_int64_t) :: bytes, begins, bound, touching
    character(:), allocatable :: type_name, order_name, strategy_name, wrong
    integer(c_int) :: dimensions, sync, status
    logical :: valid
    extents = [integer(c_int64_t) ::]
    dimensions = -1
    wrong = ''
    if (present(shape)) then
      call to_int64s(shape, extents, valid)
      if (.not. valid) wrong = 'shape must be integers of 8 to 64 bits'
      dimensions = size(extents, kind=c_int)
    end if
    bytes = 0
    if (present(element_bytes)) bytes = element_bytes
    begins = 0
    if (present(offset)) begins = offset
    bound = 0
    if (present(memory)) bound = memory
    touching = 0
    if (present(readers)) touching = readers
    sync = 0
    if (present(durable)) sync = merge(1_c_int, -1_c_int, durable)
    type_name = ''
    if (present(dtype)) type_name = dtype
    strategy_name = ''
    if (present(strategy)) strategy_name = strategy
    order_name = default_order(url, mode)
    if (present(order)) order_name = order
    status = c_open(c_text(url), c_text(mode), comm%handle, dimensions, extents, c_text(type_name), bytes, &
      c_text(order_name), begins, bound, c_text(strategy_name), touching, sync, c_text(wrong), file%handle)
    if (status == 0) then
      file%rank = comm%rank
      file%alone = comm%alone
    end if
    call report(status, stat, errmsg, merge(not_collective, comm%rank, comm%alone))
  end subroutine

  !> Returns 'F', or nothing for an existing .npy file, which states its own order.
  pure function default_order(url, mode) result(order)
    character(*), intent(in) :: url, mode
    character(:), allocatable :: order
    integer :: length
    order = 'F'
    length = len_trim(url)
    if (index(mode, 'w') == 1 .or. length < 4) return
    if (url(length - 3:length) == '.npy') order = ''
  end function

  !> Returns the shape of the array in the file; for a pipe, of the array in the step. Empty after an error.
  function file_shape(self, stat, errmsg) result(shape)
    class(plait_file), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: shape(:)
    integer(c_int64_t) :: extents(32)
    integer(c_int) :: dimensions, status
    dimensions = 0
    status = c_file_dimensions(found_file(self%handle), dimensions)
    if (status == 0) status = c_file_shape(found_file(self%handle), size(extents, kind=c_int), extents)
    if (status /= 0) dimensions = 0
    shape = extents(1:dimensions)
    call report(status, stat, errmsg)
  end function

  !> Returns the type of the elements in the notation of .npy files; '' if only their size is known, and after an error.
  function file_dtype(self, stat, errmsg) result(dtype)
    class(plait_file), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: dtype
    type(c_ptr) :: raw
    integer(c_int) :: ignored
    raw = c_null_ptr
    call report(c_file_dtype(found_file(self%handle), raw), stat, errmsg)
    dtype = plait_to_text(raw)
    ignored = c_text_free(raw)
  end function

  !> Closes a file; a new one then appears, durably. After an error the file must be abandoned. Collective.
  subroutine plait_close(file, stat, errmsg)
    type(plait_file), intent(inout) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_close(file%handle), stat, errmsg, file%report_rank())
  end subroutine

  !> Closes a file without completing it; a new one is discarded.
  subroutine plait_abandon(file, stat, errmsg)
    type(plait_file), intent(inout) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_abandon(file%handle), stat, errmsg)
  end subroutine

  !> Fills `array`, of any type, rank and strides, with this rank's part of the whole array in the file, or of a region:
  !> the `count` indices first, first + stride, ... of each dimension, counted from 1. A rank that holds no part may
  !> pass any array. Collective.
  subroutine plait_read(file, layout, array, first, count, stride, fill_halo, stat, errmsg)
    type(plait_file), intent(in) :: file
    type(plait_layout), intent(in) :: layout
    type(*), dimension(..) :: array
    class(*), intent(in), optional :: first(:), count(:), stride(:)
    logical, intent(in), optional :: fill_halo
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: wrong
    integer(c_int64_t) :: slices(32, 3)
    integer(c_int) :: used, halo
    halo = 0
    if (present(fill_halo)) halo = merge(1_c_int, 0_c_int, fill_halo)
    call check_slices(slices, used, wrong, first, count, stride)
    call report(c_access(file%handle, layout%handle, array, int(file%rank, c_int), flag(file), used, slices(:, 1), &
      slices(:, 2), slices(:, 3), halo, 0_c_int, c_text(wrong), c_null_ptr), stat, errmsg, file%report_rank())
  end subroutine

  !> Writes this rank's part of the whole array, or of a region; the reverse of plait_read. Collective.
  subroutine plait_write(file, layout, array, first, count, stride, stat, errmsg)
    type(plait_file), intent(in) :: file
    type(plait_layout), intent(in) :: layout
    type(*), dimension(..), intent(in) :: array
    class(*), intent(in), optional :: first(:), count(:), stride(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: wrong
    integer(c_int64_t) :: slices(32, 3)
    integer(c_int) :: used
    call check_slices(slices, used, wrong, first, count, stride)
    call report(c_access(file%handle, layout%handle, array, int(file%rank, c_int), flag(file), used, slices(:, 1), &
      slices(:, 2), slices(:, 3), 0_c_int, 1_c_int, c_text(wrong), c_null_ptr), stat, errmsg, file%report_rank())
  end subroutine

  !> Extends the array along dimension `axis`, counted from 1, by a block of the layout's shape, and writes this rank's
  !> part. Mode 'a'; for new Zarr arrays also 'w'. Other programs find the new length after plait_close. Collective.
  subroutine plait_append(file, layout, array, axis, stat, errmsg)
    type(plait_file), intent(in) :: file
    type(plait_layout), intent(in) :: layout
    type(*), dimension(..), intent(in) :: array
    integer, intent(in) :: axis
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: wrong
    wrong = ''
    if (axis < 1) wrong = 'plait_append: axis is less than 1; dimensions are counted from 1'
    call report(c_append(file%handle, layout%handle, array, int(file%rank, c_int), flag(file), int(axis, c_int), &
      c_text(wrong)), stat, errmsg, file%report_rank())
  end subroutine

  !> Changes the shape of the array; new elements have the fill value. Mode 'a'. Collective.
  subroutine plait_resize(file, shape, stat, errmsg)
    type(plait_file), intent(in) :: file
    class(*), intent(in) :: shape(:)   !< integers of 8 to 64 bits, as many as the array has dimensions
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: extents(:)
    character(:), allocatable :: wrong
    logical :: valid
    call to_int64s(shape, extents, valid)
    wrong = ''
    if (.not. valid) wrong = 'shape must be integers of 8 to 64 bits'
    call report(c_resize(file%handle, size(extents, kind=c_int), extents, c_text(wrong)), &
      stat, errmsg, file%report_rank())
  end subroutine

  !> Starts a read like plait_read; the array must not be accessed until plait_wait. Collective.
  subroutine plait_start_read(file, layout, array, request, first, count, stride, fill_halo, stat, errmsg)
    type(plait_file), intent(in) :: file
    type(plait_layout), intent(in) :: layout
    type(*), dimension(..), asynchronous :: array
    type(plait_request), intent(inout), target :: request   !< must not be in use
    class(*), intent(in), optional :: first(:), count(:), stride(:)
    logical, intent(in), optional :: fill_halo
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: wrong
    integer(c_int64_t) :: slices(32, 3)
    integer(c_int) :: used, halo
    halo = 0
    if (present(fill_halo)) halo = merge(1_c_int, 0_c_int, fill_halo)
    call check_slices(slices, used, wrong, first, count, stride)
    if (.not. c_associated(found_request(request%handle))) request%rank = file%report_rank()
    call report(c_access(file%handle, layout%handle, array, int(file%rank, c_int), flag(file), used, slices(:, 1), &
      slices(:, 2), slices(:, 3), halo, 0_c_int, c_text(wrong), c_loc(request%handle)), &
      stat, errmsg, file%report_rank())
  end subroutine

  !> Starts a write like plait_write; the array must not be changed until plait_wait. Collective.
  subroutine plait_start_write(file, layout, array, request, first, count, stride, stat, errmsg)
    type(plait_file), intent(in) :: file
    type(plait_layout), intent(in) :: layout
    type(*), dimension(..), intent(in), asynchronous :: array
    type(plait_request), intent(inout), target :: request   !< must not be in use
    class(*), intent(in), optional :: first(:), count(:), stride(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: wrong
    integer(c_int64_t) :: slices(32, 3)
    integer(c_int) :: used
    call check_slices(slices, used, wrong, first, count, stride)
    if (.not. c_associated(found_request(request%handle))) request%rank = file%report_rank()
    call report(c_access(file%handle, layout%handle, array, int(file%rank, c_int), flag(file), used, slices(:, 1), &
      slices(:, 2), slices(:, 3), 0_c_int, 1_c_int, c_text(wrong), c_loc(request%handle)), &
      stat, errmsg, file%report_rank())
  end subroutine

  !> Waits for an access that was started, and releases the request. elements: the number that an access of a stream has
  !> moved.
  subroutine plait_wait(request, elements, stat, errmsg)
    type(plait_request), intent(inout) :: request
    integer(c_int64_t), intent(out), optional :: elements
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status, ended
    status = 0
    if (present(elements)) then
      elements = 0
      status = c_elements(found_request(request%handle), elements)
    end if
    ended = c_wait(request%handle)   ! also after an error
    call report(merge(status, ended, status /= 0), stat, errmsg, request%rank)
  end subroutine

  !> Returns true if plait_wait would return at once.
  logical function plait_test(request, stat, errmsg)
    type(plait_request), intent(in) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: done, status
    done = 1
    status = 0
    if (c_associated(request%handle)) status = c_test(found_request(request%handle), done)
    plait_test = done /= 0
    call report(status, stat, errmsg)
  end function

  !> Returns the argument `rank` of report() for collective calls on a file.
  pure integer function report_rank(file)
    class(plait_file), intent(in) :: file
    report_rank = merge(not_collective, file%rank, file%alone)
  end function

  pure integer(c_int) function flag(file)
    type(plait_file), intent(in) :: file
    flag = merge(1_c_int, 0_c_int, file%alone)
  end function
end module
