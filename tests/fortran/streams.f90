! Streams through the module plait: rank r writes r + 1 elements in rank order, then all ranks write the same two.
program streams
  use plait
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  type(plait_comm) :: comm
  type(plait_file) :: file
  type(plait_stream) :: stream
  type(plait_request) :: request
  real(real64), allocatable, asynchronous :: local_values(:), all(:), matrix(:, :)
  integer(int64) :: count, done, elements_before
  integer :: i, stat
  character(200) :: text
  call plait_world(comm)
  count = (int(comm%size, int64)*(comm%size + 1))/2 + 2
  allocate (local_values(comm%rank + 1), all(count + 3), matrix(3, 4))
  local_values = [(100*comm%rank + i, i=1, comm%rank + 1)]

  call plait_open(file, 'stream.bin', 'w', comm, shape=[count], dtype='<f8')
  call plait_stream_open(stream, file, plait_stream_ordered)
  call plait_stream_start_write(stream, local_values, request)
  call plait_wait(request, done)
  call expect(done == size(local_values), 'elements written')
  call expect(plait_stream_tell(stream) == count - 1, 'the position after all elements')
  call plait_stream_close(stream)
  call plait_stream_open(stream, file, plait_stream_same)
  call plait_stream_seek(stream, count - 1)
  call plait_stream_write(stream, [-1.0_real64, -2.0_real64])
  call plait_stream_write(stream, local_values(1:1), stat, text)
  call expect(stat == 1, 'past the end')
  call plait_stream_close(stream)
  call plait_close(file)

  call plait_open(file, 'stream.bin', 'r+', comm, shape=[count], dtype='<f8')
  call plait_stream_open(stream, file, plait_stream_same)
  call plait_stream_read(stream, all, done)
  call expect(done == count, 'elements read')
  elements_before = (int(comm%rank, int64)*(comm%rank + 1))/2
  call expect(any(all(1:count) == -2), 'the last element')
  call expect(maxval(abs(all(elements_before + 1:elements_before + size(local_values)) - local_values)) == 0, &
              'the elements of this rank')
  call plait_stream_close(stream)

  call plait_stream_open(stream, file, plait_stream_own)
  call plait_stream_seek(stream, count - 1)
  call plait_stream_start_read(stream, all, request)
  call plait_wait(request, done)
  call expect(done == 2 .and. all(1) == -1 .and. all(2) == -2, 'the end')
  call plait_stream_read(stream, matrix(1:2, :), done, stat, text)
  call expect(stat == 1 .and. index(text, 'not contiguous') > 0, 'gaps')
  call plait_stream_read(stream, text, done, stat, text)
  call expect(stat == 1 .and. index(text, 'have 200 bytes, those of the file 8') > 0, 'a type')
  call plait_stream_seek(stream, 1_int64)
  call plait_stream_read(stream, matrix(:, 2), done)
  call expect(done == min(3_int64, count) .and. matrix(1, 2) == 1, 'a column')
  call plait_stream_close(stream)
  call plait_close(file)
contains
  ! Ends the program with an error that states `what` if a condition does not hold.
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print *, 'rank', comm%rank, ': ', what
    error stop 1
  end subroutine
end program
