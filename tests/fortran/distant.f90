! Distant files through the module plait: every rank writes to the disks of all ranks, and reads what other ranks wrote.
program distant
  use plait
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  implicit none
  type(plait_comm) :: comm
  call plait_world(comm)
  call everywhere
  call by_name
  call kinds
  call mistakes
  call comm%free()

contains

  ! Rank r writes block r of the file on each disk, and reads the blocks of other ranks.
  subroutine everywhere
    integer, parameter :: count = 30000, parts = 6
    type(plait_dio) :: dio
    type(plait_request) :: request, requests(parts)
    real(real64), allocatable, asynchronous :: written(:), read_values(:)
    integer(int64) :: bytes, start
    integer :: server, writer, part
    allocate (written(count), read_values(count))
    bytes = 8*count
    call plait_dio_open(dio, disk(comm%rank), 'w', comm)
    call expect(plait_dio_owner(dio) == -1, 'the server of a file on all disks')
    do server = 0, comm%size - 1
      written = values(comm%rank, server)
      if (mod(server, 2) == 0) then
        call plait_dio_write(dio, comm%rank*bytes, written, server)
      else
        call plait_dio_write(dio, comm%rank*bytes, written, server, request)
        call plait_dio_wait(request)
      end if
      call plait_dio_sync(dio, server, request)
      call plait_dio_wait(request)
    end do
    call plait_dio_wait(request)   ! the request has already ended
    call barrier
    do server = 0, comm%size - 1
      call expect(plait_dio_size(dio, server) == bytes*comm%size, 'size')
      writer = modulo(comm%rank - server, comm%size)
      read_values = -1
      do part = 1, parts
        start = (part - 1)*(count/parts) + 1
        call plait_dio_read(dio, writer*bytes + 8*(start - 1), read_values(start:start + count/parts - 1), server, &
          requests(part))
      end do
      do while (.not. plait_dio_test(requests(3)))
      end do
      call plait_dio_waitall(requests)
      call expect(all(read_values == values(writer, server)), 'what was read')
      call plait_dio_waitall(requests)   ! the requests have already ended
    end do
    call barrier
    call plait_dio_resize(dio, 100, comm%rank)
    call expect(plait_dio_size(dio, comm%rank) == 100, 'resized')
    call plait_dio_resize(dio, 96_int64, comm%rank)
    call plait_dio_sync(dio, comm%rank)
    call plait_dio_close(dio)
    call plait_dio_close(dio)   ! closing again has no effect
  end subroutine

  ! The values that `writer` writes onto the disk of `server`.
  function values(writer, server)
    integer, intent(in) :: writer, server
    real(real64) :: values(30000)
    integer :: i
    values = [(1000000.0_real64*writer + 100000.0_real64*server + i, i=1, size(values))]
  end function

  subroutine by_name
    type(plait_dio) :: no_disk, offered, found_file
    integer(int32) :: numbers(2, 3), seen(2, 3)
    integer :: next, stat
    character(200) :: text
    next = mod(comm%rank + 1, comm%size)
    call plait_dio_open(no_disk, '', 'r+', comm)
    call plait_dio_offer(offered, make_name(comm%rank), disk(comm%rank), 'w', comm, temporary=.true.)
    call expect(plait_dio_owner(offered) == comm%rank, 'the server of an offered file')
    numbers = comm%rank
    call plait_dio_write(offered, 12, numbers, comm%rank)
    call barrier
    call plait_dio_find(found_file, make_name(next), comm)
    call expect(plait_dio_owner(found_file) == next, 'the server of a file that was found')
    call plait_dio_read(found_file, 12, seen, next)
    call expect(all(seen == next), 'the elements of a file that was found')
    call plait_dio_read(found_file, 0, seen(:, 1), next)
    call expect(all(seen(:, 1) == 0), 'zeros')
    if (comm%size > 1) then
      call plait_dio_read(found_file, 12, seen, comm%rank, stat=stat, errmsg=text)
      call expect(stat == 1 .and. index(text, 'is owned by rank') > 0, 'owned by another rank')
    end if
    call barrier
    call plait_dio_close(found_file)
    call plait_dio_close(offered)
    call barrier
    call plait_dio_find(found_file, make_name(next), comm, stat, text)
    call expect(stat == 1 .and. index(text, 'no rank has offered') > 0, 'a file that is no longer offered')
    call plait_dio_close(no_disk)
  end subroutine

  ! Writes arrays of several types and numbers of dimensions; their bytes are stored in array element order.
  subroutine kinds
    type(plait_dio) :: dio
    complex(real32) :: field(2, 2, 2), again(8)
    integer(int8) :: bytes(3)
    character(5) :: words(2), one
    logical :: flag
    real(real32) :: fifteen(1, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 3), line(12)
    integer :: i
    field = reshape([(cmplx(i, -i), i=1, 8)], [2, 2, 2])
    fifteen = reshape([(real(i), i=1, 12)], shape(fifteen))
    call plait_dio_open(dio, disk(comm%rank), 'w', comm, temporary=.true.)
    call plait_dio_write(dio, 3, field, comm%rank)
    call plait_dio_write(dio, 0, [1_int8, 2_int8, 3_int8], comm%rank)
    one = 'onetw'
    call plait_dio_write(dio, 67, one, comm%rank)
    call plait_dio_write(dio, 72, ['three'], comm%rank)
    call plait_dio_write(dio, 77, .true., comm%rank)
    call plait_dio_write(dio, 1000, fifteen, comm%rank)
    call plait_dio_read(dio, 3, again, comm%rank)
    call expect(all(again == reshape(field, [8])), 'complex')
    call plait_dio_read(dio, 0, bytes, comm%rank)
    call expect(all(bytes == [1, 2, 3]), 'bytes')
    call plait_dio_read(dio, 67, words, comm%rank)
    call expect(words(1) == 'onetw' .and. words(2) == 'three', 'words')
    call plait_dio_read(dio, 72, one, comm%rank)
    call expect(one == 'three', 'a word')
    flag = .false.
    call plait_dio_read(dio, 77, flag, comm%rank)
    call expect(flag, 'a flag')
    call plait_dio_read(dio, 1000_int64, line, comm%rank)
    call expect(all(line == [(i, i=1, 12)]), 'fifteen dimensions')
    call plait_dio_read(dio, 5, line(1:0), comm%rank)
    call plait_dio_close(dio)
  end subroutine

  ! Calls with wrong arguments: each returns a status and a message, and the program continues.
  subroutine mistakes
    type(plait_dio) :: dio, copy
    type(plait_request) :: request, requests(2)
    integer(int8) :: bytes(100)
    integer(int8), allocatable :: missing(:)
    integer :: stat, last, i
    character(300) :: text
    bytes = 7
    last = comm%size - 1
    call plait_dio_open(dio, disk(comm%rank), merge('a', 'w', comm%rank == last), comm, stat=stat, errmsg=text)
    call expect(stat == 1 .and. index(text, 'mode "a" is not known') > 0, 'a mode')
    call plait_dio_open(dio, merge('none/x ', '       ', comm%rank == last), 'r', comm, stat=stat, errmsg=text)
    call expect(stat == 2 .and. index(text, 'cannot open') > 0, 'a path')
    call plait_dio_write(dio, 0, bytes, 0, stat=stat, errmsg=text)
    call expect(stat == 1 .and. index(text, 'handle is NULL') > 0, 'not open')
    call plait_dio_open(dio, disk(comm%rank), 'w', comm)
    call plait_dio_open(dio, disk(comm%rank), 'w', comm, stat=stat, errmsg=text)
    call expect(stat == 1 .and. index(text, 'call plait_dio_close first') > 0, 'opened twice')
    call plait_dio_write(dio, 0, bytes, comm%rank)
    call barrier
    call plait_dio_read(dio, 90, bytes(1:20), last, stat=stat, errmsg=text)
    call expect(stat == 2 .and. index(text, 'the file ends at 100') > 0, 'past the end')
    call plait_dio_read(dio, -1, bytes(1:20), last, stat=stat, errmsg=text)
    call expect(stat == 1 .and. index(text, 'offset -1') > 0, 'an offset')
    call plait_dio_read(dio, 0, bytes, comm%size, request, stat, text)
    call expect(stat == 1 .and. index(text, 'has the ranks 0 to') > 0, 'a rank')
    call expect(plait_dio_test(request), 'a request that was not started')
    call plait_dio_read(dio, 0, bytes(1:100:2), last, stat=stat, errmsg=text)
    call expect(stat == 1 .and. index(text, 'not contiguous') > 0, 'gaps')
    call plait_dio_read(dio, 0, missing, last, stat=stat, errmsg=text)
    call expect(stat == 1 .and. index(text, 'not allocated') > 0, 'no array')
    call unknown_length(dio, bytes)
    call plait_dio_read(dio, 0, bytes, last, requests(2))
    call plait_dio_read(dio, 0, bytes, last, requests(2), stat, text)
    call expect(stat == 1 .and. index(text, 'request is in use') > 0, 'a request that was started twice')
    call plait_dio_read(dio, 5000, bytes(1:1), last, requests(1))
    call plait_dio_waitall(requests, stat, text)
    call expect(stat == 2 .and. index(text, 'the file ends at 100') > 0, 'the error of one of two requests')
    call expect(all([(plait_dio_test(requests(i)), i=1, 2)]), 'both have ended')
    copy = dio
    call plait_dio_close(dio)
    call plait_dio_close(copy, stat, text)
    call expect(stat == 1 .and. index(text, 'ended already') > 0, 'closed twice')
    call expect(plait_dio_size(copy, 0, stat) == 0 .and. stat == 1, 'the size of a closed file')
  end subroutine

  subroutine unknown_length(dio, bytes)
    type(plait_dio), intent(in) :: dio
    integer(int8), intent(inout) :: bytes(*)
    integer :: stat
    character(200) :: text
    call plait_dio_read(dio, 0, bytes, comm%rank, stat=stat, errmsg=text)
    call expect(stat == 1 .and. index(text, 'a(1:n)') > 0, 'an unknown length')
    call plait_dio_read(dio, 0, bytes(1:100), comm%rank)
    call expect(all(bytes(1:100) == 7), 'a section')
  end subroutine

  ! Waits for all ranks: opening and closing a file is collective.
  subroutine barrier
    type(plait_dio) :: no_disk
    call plait_dio_open(no_disk, '', 'r', comm)
    call plait_dio_close(no_disk)
  end subroutine

  function disk(rank)
    integer, intent(in) :: rank
    character(:), allocatable :: disk
    disk = 'disk-' // achar(iachar('0') + rank)
  end function

  function make_name(rank)
    integer, intent(in) :: rank
    character(:), allocatable :: make_name
    make_name = 'file ' // achar(iachar('0') + rank)
  end function

  ! Ends the program with an error that states `what` if a condition does not hold.
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print *, 'rank', comm%rank, ': ', what
    error stop 1
  end subroutine
end program
