! Arguments of various integer kinds, handles that are used twice, and unallocated arrays: every rank gets a status.
program handles
  use plait
  use, intrinsic :: iso_fortran_env, only: int8, int16, int64
  implicit none
  type(plait_comm) :: comm, comm_copy
  type(plait_layout) :: layout, layout_copy, part, undefined_layout
  type(plait_file) :: file, file_copy
  type(plait_stream) :: stream, stream_copy
  type(plait_request) :: request, request_copy
  real(8), allocatable, asynchronous :: array(:), missing(:)
  integer(int64), allocatable :: numbers(:)
  integer(int64) :: many(33), elements
  integer :: stat, i
  character(300) :: text
  character(40) :: notation
  many = 1
  text = ''
  call plait_world(comm)
  write (notation, '(a,i0,a)') '(block) onto (', comm%size, ') Order=C'

  ! Arguments of several integer kinds, and real numbers instead of integers.
  call plait_parse(layout, notation, [6_int8*int(comm%size, int8)], stat, text)
  call expect(stat == 0 .and. all(layout%shape() == [6*comm%size]), 'int8')
  call plait_parse(part, notation, [1.0*comm%size], stat, text)
  call expect(stat == 1 .and. index(text, 'shape must be integers') > 0, 'a real shape')
  call plait_parse(part, notation, [comm%size])
  allocate (array(6))
  array = [(6*comm%rank + i, i=1, 6)]
  call plait_open(file, 'kinds.bin', 'w', comm, shape=[6.0], dtype='<f8', stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'shape must be integers') > 0, 'a real shape to open')
  call plait_open(file, 'kinds.bin', '', comm, shape=[6], dtype='<f8', stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'mode') > 0, 'no mode')
  call plait_open(file, 'kinds.bin', 'w', comm, shape=[6_int16*int(comm%size, int16)], dtype='<f8', stat=stat)
  call expect(stat == 0, 'int16')
  call plait_write(file, layout, missing, stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'is not allocated') > 0, 'an array that is not allocated')
  call plait_write(file, layout, array, stat=stat)
  call expect(stat == 0, 'written')
  array = 0
  call plait_read(file, part, array(1:1), first=[3_int16], count=[int(comm%size, int8)], stat=stat)
  call expect(stat == 0 .and. array(1) == 3 + comm%rank, 'a region of int16')
  if (comm%rank == comm%size - 1) then   ! one rank's mistake must fail the call on all ranks
    call plait_read(file, part, array(1:1), first=[3.0], count=[comm%size], stat=stat, errmsg=text)
  else
    call plait_read(file, part, array(1:1), first=[3], count=[comm%size], stat=stat, errmsg=text)
  end if
  call expect(stat == 1 .and. index(text, 'first must be integers') > 0, 'a real region')
  call plait_read(file, part, array(1:1), first=[3], stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'count is missing') > 0, 'no count')
  call plait_read(file, part, array(1:1), first=[3, 1], count=[comm%size], stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'not the same number') > 0, 'first and count of different lengths')
  call plait_read(file, part, array(1:1), first=many, count=many, stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'more than 32') > 0, 'too many dimensions')

  ! Handles that are opened, started, waited for or closed twice.
  call plait_open(file, 'other.bin', 'w', comm, shape=[6], dtype='<f8', stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'open file, ') > 0 .and. index(text, 'kinds.bin') > 0, 'opened twice')
  call plait_close(file, stat)
  call expect(stat == 0, 'closed')
  call plait_open(file, 'kinds.bin', 'r', comm, shape=[6*comm%size], dtype='<f8')
  call plait_start_read(file, layout, array, request)
  call plait_start_read(file, layout, array, request, stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'request is in use') > 0, 'started twice')
  request_copy = request
  call plait_wait(request, stat=stat)
  call expect(stat == 0 .and. array(6) == 6*comm%rank + 6, 'waited')
  call plait_wait(request_copy, stat=stat, errmsg=text)
  call expect(stat == 1 .and. index(text, 'ended already') > 0, 'waited twice')
  call plait_stream_open(stream, file, plait_stream_own)
  call plait_stream_open(stream, file, plait_stream_own, stat, text)
  call expect(stat == 1 .and. index(text, 'open stream') > 0, 'a stream opened twice')
  call plait_stream_read(stream, missing, elements, stat, text)
  call expect(stat == 1 .and. index(text, 'is not allocated') > 0, 'a stream into nothing')
  stream_copy = stream
  call plait_stream_close(stream, stat)
  call expect(stat == 0, 'a stream')
  call plait_stream_close(stream_copy, stat)
  call expect(stat == 1, 'a stream closed twice')
  elements = plait_stream_tell(stream_copy, stat, text)
  call expect(stat == 1 .and. elements == 0, 'the position of a closed stream')
  file_copy = file
  call plait_close(file, stat)
  call expect(stat == 0, 'closed')
  call plait_close(file_copy, stat, text)
  call expect(stat == 1 .and. index(text, 'ended already') > 0, 'closed twice')
  call plait_read(file_copy, layout, array, stat=stat)
  call expect(stat == 1, 'read when closed')

  ! Errors of functions, which return an empty result.
  numbers = undefined_layout%shape(stat, text)
  call expect(stat == 1 .and. size(numbers) == 0, 'shape')
  numbers = undefined_layout%local_shape(0, stat)
  call expect(stat == 1 .and. size(numbers) == 0, 'local_shape')
  numbers = layout%indices(0, 2, stat, text)
  call expect(stat == 1 .and. size(numbers) == 0, 'indices')
  elements = undefined_layout%ranks(stat)
  call expect(stat == 1, 'ranks')
  text = undefined_layout%text(stat)
  call expect(stat == 1 .and. text == '', 'text')

  layout_copy = layout
  call layout%free(stat)
  call expect(stat == 0, 'freed')
  numbers = layout_copy%shape(stat)
  call expect(stat == 1, 'the shape of a layout that was freed')
  call layout_copy%free(stat, text)
  call expect(stat == 1 .and. index(text, 'ended already') > 0, 'freed twice')
  call layout_copy%free(stat)   ! the failed call has emptied the handle
  call expect(stat == 0, 'an empty handle freed')
  comm_copy = comm
  call comm%free(stat)
  call expect(stat == 0, 'a communicator freed')
  call comm_copy%free(stat)
  call expect(stat == 1, 'a communicator freed twice')
contains
  ! Ends the program with an error that states `what` if a condition does not hold.
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print *, 'rank', comm%rank, ': ', what, ': ', stat, trim(text)
    error stop 1
  end subroutine
end program
