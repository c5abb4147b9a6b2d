! Views of files by darrays, subarrays and vectors in the three bindings of Fortran: USE_MPIF_H, USE_MPI or USE_MPI_F08.
!
! usage: views FOLDER ROWS COLUMNS
!
! Element i of a rank's part, in the order of the file, is 1000000 rank + i + 0.25 n in write n of three. Rank 0 reads
! each file by itself and compares it with the third write. The error handler of a file must be called on each rank.
! Rank 0 prints the seconds of each kind of view.
#if defined USE_MPI_F08
#define MODULE_OF_MPI use mpi_f08
#define HANDLE(name) type(name)
#define STATUS type(MPI_Status)
#elif defined USE_MPI
#define MODULE_OF_MPI use mpi
#define HANDLE(name) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#else
#define MODULE_OF_MPI
#define HANDLE(name) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#endif

module handlers
  implicit none
  integer :: calls = 0, class_of_last = 0
contains
  subroutine count_error(file, code)
    MODULE_OF_MPI
#ifdef USE_MPIF_H
    include 'mpif.h'
#endif
    HANDLE(MPI_File) :: file
    integer :: code, ignored
    calls = calls + 1
    call MPI_Error_class(code, class_of_last, ignored)
  end subroutine count_error
end module handlers

program views
  MODULE_OF_MPI
  use handlers
  implicit none
#ifdef USE_MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: kinds = 3
  integer(MPI_OFFSET_KIND), parameter :: displacement = 16
  character(len=8), parameter :: names(kinds) = ['darray  ', 'subarray', 'vector  ']
  integer :: rank, ranks, rows, columns, kind, code, grid(2)
  character(len=1024) :: folder, text
  double precision :: begin

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_command_argument(1, folder)
  call get_command_argument(2, text)
  read (text, *) rows
  call get_command_argument(3, text)
  read (text, *) columns
  rows = rows / ranks * ranks
  grid = 0
  call MPI_Dims_create(ranks, 2, grid, code)
  do kind = 1, kinds
    call MPI_Barrier(MPI_COMM_WORLD, code)
    begin = MPI_Wtime()
    call access_file(trim(folder)//'/'//trim(names(kind)), kind)
    call MPI_Barrier(MPI_COMM_WORLD, code)
    if (rank == 0) print '(3a, f0.4)', 'seconds ', trim(names(kind)), ' ', MPI_Wtime() - begin
    if (rank == 0) call compare_file(trim(folder)//'/'//trim(names(kind)), kind)
    call MPI_Barrier(MPI_COMM_WORLD, code)
  end do
  call call_handler(trim(folder)//'/vector')
  call MPI_Finalize(code)

contains

  subroutine fail(what)
    character(len=*), intent(in) :: what
    integer :: ignored
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine fail

  subroutine check(what)
    character(len=*), intent(in) :: what
    if (code /= MPI_SUCCESS) call fail(what)
  end subroutine check

  ! The rank that has element (i, j), whose indices begin with 0.
  integer function owner(kind, i, j)
    integer, intent(in) :: kind, i, j
    select case (kind)
    case (1)
      owner = mod(i / 3, grid(1)) * grid(2) + mod(j, grid(2))
    case (2)
      owner = i / (rows / ranks)
    case default
      owner = mod(i, ranks)
    end select
  end function owner

  subroutine make_type(kind, datatype)
    integer, intent(in) :: kind
    HANDLE(MPI_Datatype) :: datatype, column
    integer(MPI_ADDRESS_KIND) :: bytes
    select case (kind)
    case (1)
      call MPI_Type_create_darray(ranks, rank, 2, [rows, columns], [MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC], &
                                  [3, MPI_DISTRIBUTE_DFLT_DARG], grid, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, &
                                  datatype, code)
    case (2)
      call MPI_Type_create_subarray(2, [rows, columns], [rows / ranks, columns], [rank * (rows / ranks), 0], &
                                    MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, datatype, code)
    case default
      call MPI_Type_vector(rows / ranks * columns, 1, ranks, MPI_DOUBLE_PRECISION, column, code)
      bytes = 8_MPI_ADDRESS_KIND * rows * columns
      call MPI_Type_create_resized(column, 0_MPI_ADDRESS_KIND, bytes, datatype, code)
    end select
    call check('the datatype')
    call MPI_Type_commit(datatype, code)
  end subroutine make_type

  subroutine access_file(path, kind)
    character(len=*), intent(in) :: path
    integer, intent(in) :: kind
    HANDLE(MPI_File) :: file
    HANDLE(MPI_Datatype) :: datatype
    HANDLE(MPI_Request) :: request
    STATUS :: state
    integer :: bytes, count, found_count, i
    integer(MPI_OFFSET_KIND) :: zero = 0, start, position
    double precision, allocatable, asynchronous :: written(:), found(:)

    call make_type(kind, datatype)
    call MPI_Type_size(datatype, bytes, code)
    count = bytes / 8
    allocate (written(count), found(count))
    written = [(1d6 * rank + i + 0.25d0, i=0, count - 1)]
    start = displacement
    if (kind == 3) start = start + 8 * rank
    call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, code)
    call check('MPI_File_open')
    call MPI_File_set_view(file, start, MPI_DOUBLE_PRECISION, datatype, 'native', MPI_INFO_NULL, code)
    call check('MPI_File_set_view')
    call MPI_File_write_all(file, written, count, MPI_DOUBLE_PRECISION, state, code)
    call check('MPI_File_write_all')
    call MPI_Get_count(state, MPI_DOUBLE_PRECISION, found_count, code)
    call MPI_File_get_position(file, position, code)
    if (found_count /= count .or. position /= count) call fail('the count or the position of MPI_File_write_all')
    found = -1
    call MPI_File_read_at_all(file, zero, found, count, MPI_DOUBLE_PRECISION, state, code)
    call check('MPI_File_read_at_all')
    if (any(found /= written)) call fail('elements of MPI_File_read_at_all')

    written = written + 0.25d0
    call MPI_File_write_at_all_begin(file, zero, written, count, MPI_DOUBLE_PRECISION, code)
    call check('MPI_File_write_at_all_begin')
    call MPI_File_write_at_all_end(file, written, state, code)
    call check('MPI_File_write_at_all_end')
    found = -1
    call MPI_File_seek(file, zero, MPI_SEEK_SET, code)
    call MPI_File_read_all_begin(file, found, count, MPI_DOUBLE_PRECISION, code)
    call check('MPI_File_read_all_begin')
    call MPI_File_read_all_end(file, found, state, code)
    if (any(found /= written)) call fail('elements of MPI_File_read_all_begin')

    written = written + 0.25d0
    call MPI_File_iwrite_at(file, zero, written, count, MPI_DOUBLE_PRECISION, request, code)
    call MPI_Wait(request, state, code)
    call check('MPI_File_iwrite_at')
    call MPI_File_sync(file, code)
    call MPI_Barrier(MPI_COMM_WORLD, code)
    found = -1
    call MPI_File_iread_at(file, zero, found, count, MPI_DOUBLE_PRECISION, request, code)
    call MPI_Wait(request, state, code)
    if (any(found /= written)) call fail('elements of MPI_File_iread_at')
    found = -1
    call MPI_File_seek(file, zero, MPI_SEEK_SET, code)
    call MPI_File_iread_all(file, found, count, MPI_DOUBLE_PRECISION, request, code)
    call MPI_Wait(request, state, code)
    if (any(found /= written)) call fail('elements of MPI_File_iread_all')
    call MPI_File_close(file, code)
    call check('MPI_File_close')
    call MPI_Type_free(datatype, code)
  end subroutine access_file

  subroutine compare_file(path, kind)
    character(len=*), intent(in) :: path
    integer, intent(in) :: kind
    double precision, allocatable :: found(:, :)
    integer :: next(0:ranks - 1), unit, i, j, one
    allocate (found(0:rows - 1, 0:columns - 1))
    open (newunit=unit, file=path, access='stream', form='unformatted', status='old')
    read (unit, pos=displacement + 1) found
    close (unit)
    next = 0
    do j = 0, columns - 1
      do i = 0, rows - 1
        one = owner(kind, i, j)
        if (found(i, j) /= 1d6 * one + next(one) + 0.75d0) call fail('the content of '//path)
        next(one) = next(one) + 1
      end do
    end do
  end subroutine compare_file

  ! Writing to a file that is open for reading is an error, which the handler of the file gets on each rank.
  subroutine call_handler(path)
    character(len=*), intent(in) :: path
    HANDLE(MPI_File) :: file
    HANDLE(MPI_Datatype) :: datatype
    HANDLE(MPI_Errhandler) :: handler
    STATUS :: state
    double precision :: data(1)
    data = 0
    call make_type(2, datatype)
    call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
    call MPI_File_create_errhandler(count_error, handler, code)
    call MPI_File_set_errhandler(file, handler, code)
    call MPI_File_set_view(file, displacement, MPI_DOUBLE_PRECISION, datatype, 'native', MPI_INFO_NULL, code)
    call check('MPI_File_set_view of a file that is open for reading')
    call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, data, 1, MPI_DOUBLE_PRECISION, state, code)
    if (calls == 0) call fail('the error handler was not called')
    if (class_of_last /= MPI_ERR_READ_ONLY .and. class_of_last /= MPI_ERR_ACCESS) call fail('the class of the error')
    call MPI_File_close(file, code)
    call MPI_Errhandler_free(handler, code)
    call MPI_Type_free(datatype, code)
  end subroutine call_handler
end program views
