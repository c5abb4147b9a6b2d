! Mistakes in calls of the primitives through the module plait return a status, and the program goes on.
program status_errors
  use plait
  implicit none
  integer :: stat, array(6, 4), ad, disks, row(6), lists(7), map(1)
  character(300) :: text
  text = ''
  array = 1
  lists = -1
  lists(1) = 2
  call proc_map(lists, 0, map, stat)
  call expect(stat == 0, 'proc_map')
  call proc_map(lists, 5, map, stat)
  call expect(stat == 1, 'proc_map')
  ad = array_map('A', lists, lists, lists, lists, stat)
  call expect(stat == 0 .and. ad == 1, 'array_map')   ! code 2: CYCLIC
  call array_type(ad, 'REAL*5x', stat)
  call expect(stat == 1, 'array_type')
  disks = -1
  call popen(9, 'unit9', 'SEQUENTIAL', 'UNFORMATTED', 'NEW', disks, -1, stat)
  call expect(stat == 0 .and. disks == 1, 'popen')
  call popen(9, 'unit9', 0, 0, 1, -1, -1, stat)
  call expect(stat == 1, 'popen twice')
  call popen(8, 'unit8', 'SEQUENT', 'UNFORMATTED', 'NEW', -1, -1, stat)
  call expect(stat == 1, 'popen in other words')
  call plait_fda(9, row)
  call expect(all(row == [9, 0, 0, 1, 1, 2]), 'fda')
  call pwrite(array, 1, 1, ad, 9, array, 10, stat)
  call expect(stat == 0, 'pwrite')
  call pread(array, 0, 1, ad, 9, array, 10, stat)
  call expect(stat == 1, 'pread')
  call plait_message(text)
  call expect(index(text, 'pread: the share of array') == 1, 'message')
  call pclose(9, stat)
  call expect(stat == 0, 'pclose')
  call pclose(9, stat)
  call expect(stat == 1, 'pclose twice')
contains
  subroutine expect(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print *, what, ': ', stat, trim(text)
    error stop 1
  end subroutine
end program
