! Distant I/O of the module plait: files on the disks of all ranks, read and written by any rank.
module plait_distant
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use plait_core
  use plait_files
  implicit none
  private
  public :: plait_dio, plait_dio_open, plait_dio_offer, plait_dio_find, plait_dio_owner, plait_dio_close
  public :: plait_dio_read, plait_dio_write, plait_dio_sync, plait_dio_size, plait_dio_resize
  public :: plait_dio_wait, plait_dio_waitall, plait_dio_test

  !> Files of several ranks, or one file that was offered or found.
  type :: plait_dio
    type(c_ptr) :: handle = c_null_ptr
    integer :: rank = not_collective   !< rank that prints errors of closing, or not_collective
  end type

  !> Reads bytes of the file of a rank into a contiguous array of any type and shape, as many as the array has. With
  !> `request` the read is only started: the array must not be accessed until plait_dio_wait, and should be
  !> `asynchronous`.
  interface plait_dio_read
    module procedure :: read_4, read_8
  end interface

  !> Writes a contiguous array, the reverse of plait_dio_read. A write past the end extends the file.
  interface plait_dio_write
    module procedure :: write_4, write_8
  end interface

  !> Sets the size in bytes of the file of a rank; new bytes are zero.
  interface plait_dio_resize
    module procedure :: resize_4, resize_8
  end interface

  interface
    integer(c_int) function c_open(path, mode, comm, temporary, dio) bind(c, name='plait_fortran_dio_open')
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: path(*), mode(*)
      type(c_ptr), value :: comm
      integer(c_int), value :: temporary
      type(c_ptr), intent(inout) :: dio
    end function
    integer(c_int) function c_offer(name, path, mode, comm, temporary, dio) bind(c, name='plait_fortran_dio_offer')
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: name(*), path(*), mode(*)
      type(c_ptr), value :: comm
      integer(c_int), value :: temporary
      type(c_ptr), intent(inout) :: dio
    end function
    integer(c_int) function c_find(name, comm, dio) bind(c, name='plait_fortran_dio_find')
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: comm
      type(c_ptr), intent(inout) :: dio
    end function
    function found_dio(dio) result(found) bind(c, name='plait_fortran_found_dio')
      import :: c_ptr
      type(c_ptr), value :: dio
      type(c_ptr) :: found
    end function
    integer(c_int) function c_owner(dio, rank) bind(c, name='plait_dio_owner')
      import :: c_int, c_ptr
      type(c_ptr), value :: dio
      integer(c_int), intent(inout) :: rank
    end function
    integer(c_int) function c_move(dio, offset, array, rank, write, request) bind(c, name='plait_fortran_dio_move')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: dio
      integer(c_int64_t), value :: offset
      type(*), dimension(..) :: array
      integer(c_int), value :: rank, write
      type(c_ptr), value :: request   ! the address of a handle, or null
    end function
    integer(c_int) function c_sync(dio, rank, request) bind(c, name='plait_fortran_dio_sync')
      import :: c_int, c_ptr
      type(c_ptr), value :: dio
      integer(c_int), value :: rank
      type(c_ptr), value :: request
    end function
    integer(c_int) function c_size(dio, rank, bytes) bind(c, name='plait_dio_size')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: dio
      integer(c_int), value :: rank
      integer(c_int64_t), intent(inout) :: bytes
    end function
    integer(c_int) function c_resize(dio, bytes, rank) bind(c, name='plait_dio_resize')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: dio
      integer(c_int64_t), value :: bytes
      integer(c_int), value :: rank
    end function
    integer(c_int) function c_waitall(requests, count) bind(c, name='plait_fortran_dio_waitall')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), intent(inout) :: requests(*)
      integer(c_int64_t), value :: count
    end function
    integer(c_int) function c_close(dio) bind(c, name='plait_fortran_dio_close')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: dio
    end function
  end interface

contains

  !> Opens a file on each rank's disk in mode 'r', 'r+' or 'w' (a new file for reading and writing), and registers all
  !> files under one handle. An empty path opens no file on that rank. Collective.
  subroutine plait_dio_open(dio, path, mode, comm, temporary, stat, errmsg)
    type(plait_dio), intent(inout) :: dio              !< must not be open
    character(*), intent(in) :: path, mode
    type(plait_comm), intent(in) :: comm
    logical, intent(in), optional :: temporary         !< the file is removed when the handle is closed
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: report_rank
    integer(c_int) :: status
    report_rank = merge(not_collective, comm%rank, comm%alone)
    status = c_open(c_text(path), c_text(mode), comm%handle, flag(temporary), dio%handle)
    if (status == 0) dio%rank = report_rank
    call report(status, stat, errmsg, report_rank)
  end subroutine

  !> Registers a file of this rank alone under a name, on a communicator that plait_dio_open has used.
  subroutine plait_dio_offer(dio, name, path, mode, comm, temporary, stat, errmsg)
    type(plait_dio), intent(inout) :: dio
    character(*), intent(in) :: name, path, mode
    type(plait_comm), intent(in) :: comm
    logical, intent(in), optional :: temporary
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_offer(c_text(name), c_text(path), c_text(mode), comm%handle, flag(temporary), dio%handle)
    if (status == 0) dio%rank = not_collective
    call report(status, stat, errmsg)
  end subroutine

  !> Finds the file that a rank offers under a name.
  subroutine plait_dio_find(dio, name, comm, stat, errmsg)
    type(plait_dio), intent(inout) :: dio
    character(*), intent(in) :: name
    type(plait_comm), intent(in) :: comm
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_find(c_text(name), comm%handle, dio%handle)
    if (status == 0) dio%rank = not_collective
    call report(status, stat, errmsg)
  end subroutine

  !> Returns the rank of an offered or found file; -1 for files that were opened together, and after an error.
  integer function plait_dio_owner(dio, stat, errmsg)
    type(plait_dio), intent(in) :: dio
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: rank
    rank = -1
    call report(c_owner(found_dio(dio%handle), rank), stat, errmsg)
    plait_dio_owner = rank
  end function

  subroutine read_8(dio, offset, array, rank, request, stat, errmsg)
    type(plait_dio), intent(in) :: dio
    integer(int64), intent(in) :: offset   !< offset in bytes, from 0
    type(*), dimension(..), asynchronous :: array
    integer, intent(in) :: rank
    type(plait_request), intent(inout), target, optional :: request   !< must not be in use
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_move(dio%handle, offset, array, int(rank, c_int), 0_c_int, request_address(request)), stat, errmsg)
  end subroutine

  subroutine read_4(dio, offset, array, rank, request, stat, errmsg)
    type(plait_dio), intent(in) :: dio
    integer(int32), intent(in) :: offset
    type(*), dimension(..), asynchronous :: array
    integer, intent(in) :: rank
    type(plait_request), intent(inout), target, optional :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call read_8(dio, int(offset, int64), array, rank, request, stat, errmsg)
  end subroutine

  subroutine write_8(dio, offset, array, rank, request, stat, errmsg)
    type(plait_dio), intent(in) :: dio
    integer(int64), intent(in) :: offset
    type(*), dimension(..), intent(in), asynchronous :: array
    integer, intent(in) :: rank
    type(plait_request), intent(inout), target, optional :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_move(dio%handle, offset, array, int(rank, c_int), 1_c_int, request_address(request)), stat, errmsg)
  end subroutine

  subroutine write_4(dio, offset, array, rank, request, stat, errmsg)
    type(plait_dio), intent(in) :: dio
    integer(int32), intent(in) :: offset
    type(*), dimension(..), intent(in), asynchronous :: array
    integer, intent(in) :: rank
    type(plait_request), intent(inout), target, optional :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call write_8(dio, int(offset, int64), array, rank, request, stat, errmsg)
  end subroutine

  !> Makes completed writes durable on the disk of a rank.
  subroutine plait_dio_sync(dio, rank, request, stat, errmsg)
    type(plait_dio), intent(in) :: dio
    integer, intent(in) :: rank
    type(plait_request), intent(inout), target, optional :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_sync(dio%handle, int(rank, c_int), request_address(request)), stat, errmsg)
  end subroutine

  !> Returns the size in bytes of the file of a rank; 0 after an error.
  integer(int64) function plait_dio_size(dio, rank, stat, errmsg)
    type(plait_dio), intent(in) :: dio
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    plait_dio_size = 0
    call report(c_size(found_dio(dio%handle), int(rank, c_int), plait_dio_size), stat, errmsg)
  end function

  subroutine resize_8(dio, bytes, rank, stat, errmsg)
    type(plait_dio), intent(in) :: dio
    integer(int64), intent(in) :: bytes
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_resize(found_dio(dio%handle), bytes, int(rank, c_int)), stat, errmsg)
  end subroutine

  subroutine resize_4(dio, bytes, rank, stat, errmsg)
    type(plait_dio), intent(in) :: dio
    integer(int32), intent(in) :: bytes
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call resize_8(dio, int(bytes, int64), rank, stat, errmsg)
  end subroutine

  !> Waits for an access that was started, and releases the request.
  subroutine plait_dio_wait(request, stat, errmsg)
    type(plait_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call plait_wait(request, stat=stat, errmsg=errmsg)
  end subroutine

  !> Waits for all requests. The error is that of the first one in the list that failed.
  subroutine plait_dio_waitall(requests, stat, errmsg)
    type(plait_request), intent(inout) :: requests(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handles(size(requests))
    integer(c_int) :: status
    integer :: i
    do i = 1, size(requests)
      handles(i) = requests(i)%handle
    end do
    status = c_waitall(handles, size(handles, kind=c_int64_t))
    do i = 1, size(requests)
      requests(i)%handle = handles(i)
    end do
    call report(status, stat, errmsg)
  end subroutine

  !> Returns true if plait_dio_wait would return at once.
  logical function plait_dio_test(request, stat, errmsg)
    type(plait_request), intent(in) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    plait_dio_test = plait_test(request, stat, errmsg)
  end function

  !> Waits for the requests that this rank has started, and closes the handle. Collective if plait_dio_open made it.
  subroutine plait_dio_close(dio, stat, errmsg)
    type(plait_dio), intent(inout) :: dio
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(c_close(dio%handle), stat, errmsg, dio%rank)
  end subroutine

  !> Returns the address of the number of a request; null if there is no request.
  function request_address(request)
    type(plait_request), intent(inout), target, optional :: request
    type(c_ptr) :: request_address
    request_address = c_null_ptr
    if (.not. present(request)) return
    request_address = c_loc(request%handle)
    if (.not. c_associated(found_request(request%handle))) request%rank = not_collective
  end function

  pure integer(c_int) function flag(given)
    logical, intent(in), optional :: given
    flag = 0
    if (present(given)) flag = merge(1_c_int, 0_c_int, given)
  end function
end module
