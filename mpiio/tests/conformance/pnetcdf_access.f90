! Fixed and record variables of PnetCDF in Fortran, which all ranks write and read at once.
!
! usage: pnetcdf_access FOLDER ROWS COLUMNS
!
! Each rank has every n-th row of n ranks. Element (y, x, t) is 10000000 t + 1000 x + y. Rank 0 prints the seconds.
program pnetcdf_access
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: records = 3
  integer :: rank, ranks, code, file, row, column, time, fixed, moving, t, requests(records), statuses(records)
  integer(MPI_OFFSET_KIND) :: rows, columns, own, x, i
  double precision, allocatable, target :: written(:, :, :), found(:, :, :)
  double precision :: begin
  character(len=1024) :: folder, text

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_command_argument(1, folder)
  call get_command_argument(2, text)
  read (text, *) rows
  call get_command_argument(3, text)
  read (text, *) columns
  own = (rows - rank + ranks - 1) / ranks
  allocate (written(own, columns, records), found(own, columns, records))
  do t = 1, records
    do x = 1, columns
      do i = 1, own
        written(i, x, t) = 1d7 * t + 1d3 * x + (rank + (i - 1) * ranks + 1)
      end do
    end do
  end do

  begin = MPI_Wtime()
  call check(nf90mpi_create(MPI_COMM_WORLD, trim(folder)//'/pnetcdf_fortran.nc', &
                            ior(NF90_CLOBBER, NF90_64BIT_DATA), MPI_INFO_NULL, file))
  call check(nf90mpi_def_dim(file, 'row', rows, row))
  call check(nf90mpi_def_dim(file, 'column', columns, column))
  call check(nf90mpi_def_dim(file, 'time', int(NF90_UNLIMITED, MPI_OFFSET_KIND), time))
  call check(nf90mpi_def_var(file, 'fixed', NF90_DOUBLE, [row, column], fixed))
  call check(nf90mpi_def_var(file, 'records', NF90_DOUBLE, [row, column, time], moving))
  call check(nf90mpi_enddef(file))
  call check(nf90mpi_put_var_all(file, fixed, written(:, :, 1), start=[1_MPI_OFFSET_KIND + rank, 1_MPI_OFFSET_KIND], &
                                 count=[own, columns], stride=[int(ranks, MPI_OFFSET_KIND), 1_MPI_OFFSET_KIND]))
  do t = 1, records
    call check(nf90mpi_iput_var(file, moving, written(:, :, t), requests(t), start=first(t), &
                                count=[own, columns, one()], stride=[int(ranks, MPI_OFFSET_KIND), one(), one()]))
  end do
  call check(nf90mpi_wait_all(file, records, requests, statuses))
  call check(maxval(statuses))
  call check(nf90mpi_close(file))
  call report('writes')

  begin = MPI_Wtime()
  call check(nf90mpi_open(MPI_COMM_WORLD, trim(folder)//'/pnetcdf_fortran.nc', NF90_NOWRITE, MPI_INFO_NULL, file))
  found = 0
  call check(nf90mpi_get_var_all(file, fixed, found(:, :, 1), start=[1_MPI_OFFSET_KIND + rank, 1_MPI_OFFSET_KIND], &
                                 count=[own, columns], stride=[int(ranks, MPI_OFFSET_KIND), 1_MPI_OFFSET_KIND]))
  if (any(found(:, :, 1) /= written(:, :, 1))) call fail('elements of the fixed variable differ')
  call check(nf90mpi_get_var_all(file, moving, found, start=first(1), &
                                 count=[own, columns, int(records, MPI_OFFSET_KIND)], &
                                 stride=[int(ranks, MPI_OFFSET_KIND), one(), one()]))
  if (any(found /= written)) call fail('elements of the record variable differ')
  call check(nf90mpi_close(file))
  call report('reads')
  call MPI_Finalize(code)

contains

  function one()
    integer(MPI_OFFSET_KIND) :: one
    one = 1
  end function one

  function first(number)
    integer, intent(in) :: number
    integer(MPI_OFFSET_KIND) :: first(3)
    first = [1 + rank, 1, number]
  end function first

  subroutine check(status)
    integer, intent(in) :: status
    if (status /= NF90_NOERR) call fail(trim(nf90mpi_strerror(status)))
  end subroutine check

  subroutine fail(what)
    character(len=*), intent(in) :: what
    integer :: ignored
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine fail

  subroutine report(name)
    character(len=*), intent(in) :: name
    call MPI_Barrier(MPI_COMM_WORLD, code)
    if (rank == 0) print '(3a, f0.4)', 'seconds ', name, ' ', MPI_Wtime() - begin
  end subroutine report

end program pnetcdf_access
