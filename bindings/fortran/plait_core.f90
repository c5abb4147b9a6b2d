! Errors, communicators and layouts of the module plait.
!
! Every procedure has the optional arguments `stat`, which is 0 without an error, otherwise 1 (argument), 2 (system) or
! 3 (memory), and `errmsg`.  Without `stat` an error is printed on standard error (of collective calls by rank 0 only),
! and the program continues.
!
! A handle is a number that the C++ side resolves (handles.hpp): a copy of a handle refers to the same object.
module plait_core
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64
  use plait_c
  implicit none
  private
  public :: plait_comm, plait_layout, plait_world, plait_alone, plait_from_mpi, plait_parse
  public :: report, c_text, to_int64s, check_slices, plait_to_text, found_comm, found_layout, not_collective

  !> The processes that take part in collective calls.
  type :: plait_comm
    type(c_ptr) :: handle = c_null_ptr
    integer :: rank = 0   !< rank of this process
    integer :: size = 1
    logical :: alone = .true.
  contains
    procedure :: barrier => comm_barrier
    procedure :: free => comm_free
  end type

  !> The distribution of an array over ranks. Assignment copies the handle, not the layout. The layout is freed once,
  !> through either copy.
  type :: plait_layout
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: free => layout_free
    procedure :: shape => layout_shape
    procedure :: local_shape => layout_local_shape
    procedure :: indices => layout_indices
    procedure :: ranks => layout_ranks
    procedure :: text => layout_text
  end type

  integer, parameter :: not_collective = -1   ! instead of a rank: for calls that are not collective

contains

  !> Returns all ranks of the program: those that `plait run` has started, if the program has not initialised MPI;
  !> otherwise those of MPI_COMM_WORLD. Initialises MPI if the program has not, and then finalises it when the program
  !> ends. Collective.
  subroutine plait_world(comm, stat, errmsg)
    type(plait_comm), intent(out) :: comm
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_world(comm%handle)
    call set_rank_and_size(comm)
    call report(status, stat, errmsg)
  end subroutine

  !> Returns a communicator of this process alone.
  subroutine plait_alone(comm, stat, errmsg)
    type(plait_comm), intent(out) :: comm
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_alone(comm%handle), stat, errmsg)
  end subroutine

  !> Returns the ranks of an MPI communicator: an integer of mpif.h and mpi, or the MPI_VAL of mpi_f08. Collective.
  subroutine plait_from_mpi(communicator, comm, stat, errmsg)
    integer, intent(in) :: communicator
    type(plait_comm), intent(out) :: comm
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_from_mpi(int(communicator, c_int), comm%handle)
    call set_rank_and_size(comm)
    call report(status, stat, errmsg)
  end subroutine

  !> Stores the rank of this process and the number of ranks in a new communicator.
  subroutine set_rank_and_size(comm)
    type(plait_comm), intent(inout) :: comm
    integer(c_int) :: rank, size, ignored
    if (.not. c_associated(comm%handle)) return
    ignored = c_comm_rank(found_comm(comm%handle), rank)
    ignored = c_comm_size(found_comm(comm%handle), size)
    comm%rank = rank
    comm%size = size
    comm%alone = .false.
  end subroutine

  !> Waits until all ranks have made this call.  Collective.
  subroutine comm_barrier(self, stat, errmsg)
    class(plait_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_comm_barrier(found_comm(self%handle)), stat, errmsg)
  end subroutine

  !> Frees a communicator; must be called before MPI is finalised.
  subroutine comm_free(self, stat, errmsg)
    class(plait_comm), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_comm_free(self%handle), stat, errmsg)
  end subroutine

  !> Parses a layout such as `(block, cyclic(3)) onto (2, 2)`; see docs/reference/notation.md. Local arrays are passed
  !> with their strides, so `order` affects only the text of the layout; it is order=F unless the text states another
  !> one.
  subroutine plait_parse(layout, text, shape, stat, errmsg)
    type(plait_layout), intent(out) :: layout
    character(*), intent(in) :: text
    class(*), intent(in), optional :: shape(:)   !< integers of 8 to 64 bits; optional if the text has the shape
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: extents(:)
    character(:), allocatable :: whole
    integer(c_int) :: dimensions
    logical :: valid
    whole = trim(text)
    if (index(to_lower(whole), 'order') == 0) whole = whole // ' order=F'
    dimensions = -1
    extents = [integer(c_int64_t) ::]
    if (present(shape)) then
      call to_int64s(shape, extents, valid)
      if (.not. valid) then
        call report(c_fail(c_text('shape must be integers of 8 to 64 bits')), stat, errmsg)
        return
      end if
      dimensions = size(extents, kind=c_int)
    end if
    call report(c_parse(c_text(whole), dimensions, extents, layout%handle), stat, errmsg)
  end subroutine

  !> Returns a text in lower case.
  pure function to_lower(text)
    character(*), intent(in) :: text
    character(len(text)) :: to_lower
    integer :: i
    to_lower = text
    do i = 1, len(text)
      if (text(i:i) >= 'A' .and. text(i:i) <= 'Z') to_lower(i:i) = achar(iachar(text(i:i)) + 32)
    end do
  end function

  subroutine layout_free(self, stat, errmsg)
    class(plait_layout), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_layout_free(self%handle), stat, errmsg)
  end subroutine

  !> Returns the shape of the whole array; empty after an error.
  function layout_shape(self, stat, errmsg) result(shape)
    class(plait_layout), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: shape(:)
    integer(int64) :: extents(32)
    integer(c_int) :: dimensions, status
    dimensions = 0
    status = c_dimensions(found_layout(self%handle), dimensions)
    if (status == 0) status = c_shape(found_layout(self%handle), size(extents, kind=c_int), extents)
    if (status /= 0) dimensions = 0
    shape = extents(1:dimensions)
    call report(status, stat, errmsg)
  end function

  !> Returns the shape of the local array of a rank, including its halo; empty after an error.
  function layout_local_shape(self, rank, stat, errmsg) result(shape)
    class(plait_layout), intent(in) :: self
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: shape(:)
    integer(int64) :: extents(32)
    integer(c_int) :: dimensions, status
    dimensions = 0
    status = c_dimensions(found_layout(self%handle), dimensions)
    if (status == 0) status = c_local_shape(found_layout(self%handle), int(rank, c_int64_t), &
      size(extents, kind=c_int), extents)
    if (status /= 0) dimensions = 0
    shape = extents(1:dimensions)
    call report(status, stat, errmsg)
  end function

  !> Returns the indices of a dimension that a rank owns, in the order of its local array; empty after an error. Indices
  !> and dimensions count from 1.
  function layout_indices(self, rank, dimension, stat, errmsg) result(indices)
    class(plait_layout), intent(in) :: self
    integer, intent(in) :: rank, dimension
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: indices(:)
    integer(int64) :: extents(32)
    integer(c_int) :: dimensions, status
    type(c_ptr) :: layout
    layout = found_layout(self%handle)
    dimensions = 0
    extents = 0
    status = c_dimensions(layout, dimensions)
    if (status == 0) status = c_owned_shape(layout, int(rank, c_int64_t), size(extents, kind=c_int), extents)
    if (status /= 0 .or. dimension < 1 .or. dimension > dimensions) then
      allocate (indices(0))
    else
      allocate (indices(extents(dimension)), source=0_int64)
    end if
    if (status == 0) status = c_indices(layout, int(rank, c_int64_t), int(dimension - 1, c_int), &
      size(indices, kind=c_int64_t), indices)
    indices = indices + 1
    call report(status, stat, errmsg)
  end function

  !> Returns the number of ranks that hold a part.
  function layout_ranks(self, stat, errmsg) result(ranks)
    class(plait_layout), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: ranks, ranks_end
    ranks = 0
    call report(c_ranks(found_layout(self%handle), ranks, ranks_end), stat, errmsg)
  end function

  !> Returns the text of the normal form, which is the same for equal layouts.
  function layout_text(self, stat, errmsg) result(text)
    class(plait_layout), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: text
    type(c_ptr) :: raw
    integer(c_int) :: ignored
    call report(c_layout_text(found_layout(self%handle), raw), stat, errmsg)
    text = plait_to_text(raw)
    ignored = c_text_free(raw)
  end function

  !> Converts a C string.
  function plait_to_text(raw) result(text)
    type(c_ptr), intent(in) :: raw
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length
    if (.not. c_associated(raw)) then
      text = ''
      return
    end if
    length = int(c_length(raw))
    call c_f_pointer(raw, letters, [length])
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  !> Converts a text to a C string, without trailing blanks.
  pure function c_text(text) result(letters)
    character(*), intent(in) :: text
    character(kind=c_char) :: letters(len_trim(text) + 1)
    integer :: i
    do i = 1, len_trim(text)
      letters(i) = text(i:i)
    end do
    letters(len_trim(text) + 1) = c_null_char
  end function

  !> Converts integers of 8 to 64 bits to 64 bits.
  subroutine to_int64s(values, integers, valid)
    class(*), intent(in) :: values(:)
    integer(c_int64_t), allocatable, intent(out) :: integers(:)
    logical, intent(out) :: valid
    valid = .true.
    select type (values)
    type is (integer(int8))
      integers = int(values, c_int64_t)
    type is (integer(int16))
      integers = int(values, c_int64_t)
    type is (integer(int32))
      integers = int(values, c_int64_t)
    type is (integer(int64))
      integers = values
    class default
      allocate (integers(0))
      valid = .false.
    end select
  end subroutine

  !> Checks the slices of the caller, none for the whole array. wrong: the error, empty if there is none.
  subroutine check_slices(slices, used, wrong, first, count, stride)
    integer(c_int64_t), intent(out) :: slices(32, 3)
    integer(c_int), intent(out) :: used
    character(:), allocatable, intent(out) :: wrong
    class(*), intent(in), optional :: first(:), count(:), stride(:)
    used = 0
    slices = 1
    wrong = ''
    if (.not. present(count)) then
      if (present(first) .or. present(stride)) wrong = 'count is missing; give it with first or stride'
      return
    end if
    used = int(min(size(count), 32), c_int)
    call fill('count', count, slices(:, 2))
    if (present(first)) call fill('first', first, slices(:, 1))
    if (present(stride)) call fill('stride', stride, slices(:, 3))
  contains
    subroutine fill(name, values, numbers)
      character(*), intent(in) :: name
      class(*), intent(in) :: values(:)
      integer(c_int64_t), intent(inout) :: numbers(32)
      integer(c_int64_t), allocatable :: integers(:)
      logical :: valid
      call to_int64s(values, integers, valid)
      if (.not. valid) then
        wrong = name // ' must be integers of 8 to 64 bits'
      else if (size(integers) > 32) then
        wrong = name // ' has more than 32 numbers; arrays have at most 32 dimensions'
      else if (size(integers) /= used) then
        wrong = name // ' and count have not the same number of elements; give one a dimension'
      else
        numbers(1:size(integers)) = integers
      end if
    end subroutine
  end subroutine

  !> Stores a status in `stat`. Without `stat` it prints the error; errors of collective calls are printed by rank 0
  !> only.
  subroutine report(status, stat, errmsg, rank)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, intent(in), optional :: rank   !< rank of this process in a collective call, or not_collective
    character(:), allocatable :: message
    integer(c_int) :: report_rank
    if (present(stat)) stat = status
    if (status == 0) return
    message = plait_to_text(c_message(c_null_ptr))
    if (present(errmsg)) errmsg = message
    if (present(stat)) return
    report_rank = not_collective
    if (present(rank)) report_rank = int(rank, c_int)
    call c_report(c_text(message), report_rank)
  end subroutine
end module
