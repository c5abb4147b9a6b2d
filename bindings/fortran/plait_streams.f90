! Streams of the module plait: the elements of an open file as a sequence, with a position that counts from 1.
module plait_streams
  use, intrinsic :: iso_c_binding
  use plait_core
  use plait_files
  implicit none
  private
  public :: plait_stream, plait_stream_open, plait_stream_close, plait_stream_read, plait_stream_write
  public :: plait_stream_start_read, plait_stream_start_write, plait_stream_tell, plait_stream_seek
  public :: plait_stream_own, plait_stream_shared, plait_stream_ordered, plait_stream_equal, plait_stream_same

  !> The modes: each rank has its own position (own); all ranks share one, first come, first served (shared); collective
  !> accesses in the order of the ranks (ordered), with equal lengths (equal), or of the same elements for all ranks
  !> (same).
  integer, parameter :: plait_stream_own = 0, plait_stream_shared = 1, plait_stream_ordered = 2, &
    plait_stream_equal = 3, plait_stream_same = 4

  type :: plait_stream
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int64_t) :: element_bytes = 0
    integer :: rank = not_collective   !< the rank argument of report() for this object
  end type

  interface
    integer(c_int) function c_open(file, mode, stream) bind(c, name='plait_fortran_stream_open')
      import :: c_int, c_ptr
      type(c_ptr), value :: file
      integer(c_int), value :: mode
      type(c_ptr), intent(inout) :: stream
    end function
    integer(c_int) function c_element_bytes(file, bytes) bind(c, name='plait_file_element_bytes')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int64_t), intent(inout) :: bytes
    end function
    integer(c_int) function c_close(stream) bind(c, name='plait_fortran_stream_close')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: stream
    end function
    integer(c_int) function c_move(stream, array, element_bytes, write, done, request) &
        bind(c, name='plait_fortran_stream')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: stream
      type(*), dimension(..) :: array
      integer(c_int64_t), value :: element_bytes
      integer(c_int), value :: write
      integer(c_int64_t), intent(inout) :: done
      type(c_ptr), value :: request
    end function
    function found_stream(stream) result(found) bind(c, name='plait_fortran_found_stream')
      import :: c_ptr
      type(c_ptr), value :: stream
      type(c_ptr) :: found
    end function
    integer(c_int) function c_tell(stream, element) bind(c, name='plait_stream_tell')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int64_t), intent(inout) :: element
    end function
    integer(c_int) function c_seek(stream, element) bind(c, name='plait_stream_seek')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int64_t), value :: element
    end function
  end interface

contains

  !> Opens a stream on a file. Collective.
  subroutine plait_stream_open(stream, file, mode, stat, errmsg)
    type(plait_stream), intent(inout) :: stream   !< must not be open
    type(plait_file), intent(in) :: file
    integer, intent(in) :: mode
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: collective
    integer(c_int) :: status, ignored
    collective = merge(not_collective, file%rank, file%alone)
    status = c_open(file%handle, int(mode, c_int), stream%handle)
    if (status == 0) then
      ignored = c_element_bytes(found_file(file%handle), stream%element_bytes)
      stream%rank = merge(collective, not_collective, mode >= plait_stream_ordered)
    end if
    call report(status, stat, errmsg, collective)
  end subroutine

  !> Waits for accesses that were started, and closes the stream. It must be called before the file is closed.
  subroutine plait_stream_close(stream, stat, errmsg)
    type(plait_stream), intent(inout) :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_close(stream%handle), stat, errmsg, stream%rank)
  end subroutine

  !> Reads into a contiguous array of any type and shape. elements: the number read, which is smaller than the size of
  !> the array only at the end of the file.
  subroutine plait_stream_read(stream, array, elements, stat, errmsg)
    type(plait_stream), intent(in) :: stream
    type(*), dimension(..) :: array
    integer(c_int64_t), intent(out) :: elements
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    elements = 0
    call report(c_move(stream%handle, array, stream%element_bytes, 0_c_int, elements, c_null_ptr), stat, errmsg, &
      stream%rank)
  end subroutine

  !> Writes a contiguous array. If it would pass the end of the file, it writes nothing and fails.
  subroutine plait_stream_write(stream, array, stat, errmsg)
    type(plait_stream), intent(in) :: stream
    type(*), dimension(..), intent(in) :: array
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: elements
    elements = 0
    call report(c_move(stream%handle, array, stream%element_bytes, 1_c_int, elements, c_null_ptr), stat, errmsg, &
      stream%rank)
  end subroutine

  !> Starts a read like plait_stream_read; plait_wait returns the number of elements that were read.
  subroutine plait_stream_start_read(stream, array, request, stat, errmsg)
    type(plait_stream), intent(in) :: stream
    type(*), dimension(..), asynchronous :: array
    type(plait_request), intent(inout), target :: request   !< must not be in use
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: elements
    integer(c_int) :: status
    elements = 0
    status = c_move(stream%handle, array, stream%element_bytes, 0_c_int, elements, c_loc(request%handle))
    if (status == 0) request%rank = stream%rank
    call report(status, stat, errmsg, stream%rank)
  end subroutine

  !> Starts a write like plait_stream_write; plait_wait returns the number of elements that were written.
  subroutine plait_stream_start_write(stream, array, request, stat, errmsg)
    type(plait_stream), intent(in) :: stream
    type(*), dimension(..), intent(in), asynchronous :: array
    type(plait_request), intent(inout), target :: request   !< must not be in use
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: elements
    integer(c_int) :: status
    elements = 0
    status = c_move(stream%handle, array, stream%element_bytes, 1_c_int, elements, c_loc(request%handle))
    if (status == 0) request%rank = stream%rank
    call report(status, stat, errmsg, stream%rank)
  end subroutine

  !> Returns the position of the next element, from 1; 0 after an error.
  integer(c_int64_t) function plait_stream_tell(stream, stat, errmsg)
    type(plait_stream), intent(in) :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    plait_stream_tell = -1
    call report(c_tell(found_stream(stream%handle), plait_stream_tell), stat, errmsg)
    plait_stream_tell = plait_stream_tell + 1
  end function

  !> Sets the position: in mode 0 that of this rank, in mode 1 that of all ranks; collective in modes 2 to 4.
  subroutine plait_stream_seek(stream, element, stat, errmsg)
    type(plait_stream), intent(in) :: stream
    integer(c_int64_t), intent(in) :: element
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_seek(found_stream(stream%handle), element - 1), stat, errmsg, stream%rank)
  end subroutine
end module
