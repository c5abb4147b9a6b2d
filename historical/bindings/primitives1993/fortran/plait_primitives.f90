! The 1993 primitives with explicit interfaces, both spellings of popen and an optional status.
module plait_primitives
  use, intrinsic :: iso_c_binding, only: c_char, c_size_t
  implicit none
  private
  public :: popen, pclose, array_map, array_type, proc_map, pread, pwrite, plait_status, plait_message
  public :: plait_fda, plait_adt, plait_p_info, plait_print_fda, plait_print_adt, plait_print_p_info

  !> Opens a file for a unit, with codes or with words.
  interface popen
    module procedure popen_codes, popen_words
  end interface

  interface
    subroutine external_popen(unit, file, access, form, status, no_of_disks, no_of_processors, length) &
        bind(c, name='popen_')
      import :: c_char, c_size_t
      integer, intent(in) :: unit, access, form, status, no_of_processors
      character(kind=c_char), intent(in) :: file(*)
      integer, intent(inout) :: no_of_disks
      integer(c_size_t), value :: length
    end subroutine
    subroutine external_pclose(unit) bind(c, name='pclose_')
      integer, intent(in) :: unit
    end subroutine
    subroutine external_array_type(array_descriptor, type_name, length) bind(c, name='array_type_')
      import :: c_char, c_size_t
      integer, intent(in) :: array_descriptor
      character(kind=c_char), intent(in) :: type_name(*)
      integer(c_size_t), value :: length
    end subroutine
    integer function external_array_map(array_name, size_info, distr_info, block_size, proc_info, length) &
        bind(c, name='array_map_')
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: array_name(*)
      integer, intent(in) :: size_info(7), distr_info(7), block_size(7), proc_info(7)
      integer(c_size_t), value :: length
    end function
    subroutine external_proc_map(proc_info, map_mode, user_map) bind(c, name='proc_map_')
      integer, intent(in) :: proc_info(7), map_mode, user_map(*)
    end subroutine
    subroutine external_pread(array, size1, size2, array_descriptor, unit, io_buffer, io_size) bind(c, name='pread_')
      type(*) :: array(*)
      integer, intent(in) :: size1, size2, array_descriptor, unit, io_size
      type(*) :: io_buffer(*)
    end subroutine
    subroutine external_pwrite(array, size1, size2, array_descriptor, unit, io_buffer, io_size) bind(c, name='pwrite_')
      type(*), intent(in) :: array(*)
      integer, intent(in) :: size1, size2, array_descriptor, unit, io_size
      type(*) :: io_buffer(*)
    end subroutine
    integer function external_status() bind(c, name='plait_status_')
    end function
    subroutine external_message(text, length) bind(c, name='plait_message_')
      import :: c_char, c_size_t
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: length
    end subroutine
    subroutine plait_fda(unit, row) bind(c, name='plait_fda_')
      integer, intent(in) :: unit
      integer, intent(out) :: row(6)
    end subroutine
    subroutine plait_adt(array_descriptor, table) bind(c, name='plait_adt_')
      integer, intent(in) :: array_descriptor
      integer, intent(out) :: table(4, 7)
    end subroutine
    subroutine plait_p_info(table) bind(c, name='plait_p_info_')
      integer, intent(out) :: table(*)
    end subroutine
    subroutine plait_print_fda() bind(c, name='plait_print_fda_')
    end subroutine
    subroutine plait_print_adt(array_descriptor) bind(c, name='plait_print_adt_')
      integer, intent(in) :: array_descriptor
    end subroutine
    subroutine plait_print_p_info() bind(c, name='plait_print_p_info_')
    end subroutine
  end interface

contains

  subroutine popen_codes(unit, file, access, form, status, no_of_disks, no_of_processors, stat)
    integer, intent(in) :: unit, access, form, status, no_of_processors
    character(*), intent(in) :: file
    integer :: no_of_disks   !< a variable receives the number of disks, a constant is unchanged
    integer, intent(out), optional :: stat
    call external_popen(unit, file, access, form, status, no_of_disks, no_of_processors, len(file, kind=c_size_t))
    if (present(stat)) stat = external_status()
  end subroutine

  subroutine popen_words(unit, file, access, form, status, no_of_disks, no_of_processors, stat)
    integer, intent(in) :: unit, no_of_processors
    character(*), intent(in) :: file, access, form, status
    integer :: no_of_disks
    integer, intent(out), optional :: stat
    call popen_codes(unit, file, code(access, 'SEQUENTIAL', 'DIRECT'), code(form, 'UNFORMATTED', 'FORMATTED'), &
      code(status, 'OLD', 'NEW'), no_of_disks, no_of_processors, stat)
  end subroutine

  !> Returns 0 or 1 for the two words, in upper or lower case; -9 for another one, for which popen fails.
  pure integer function code(word, zero, one)
    character(*), intent(in) :: word, zero, one
    character(len(word)) :: capitals
    integer :: i
    capitals = word
    do i = 1, len(word)
      if (word(i:i) >= 'a' .and. word(i:i) <= 'z') capitals(i:i) = achar(iachar(word(i:i)) - 32)
    end do
    code = -9
    if (capitals == zero) code = 0
    if (capitals == one) code = 1
  end function

  subroutine pclose(unit, stat)
    integer, intent(in) :: unit
    integer, intent(out), optional :: stat
    call external_pclose(unit)
    if (present(stat)) stat = external_status()
  end subroutine

  integer function array_map(array_name, size_info, distr_info, block_size, proc_info, stat)
    character(*), intent(in) :: array_name
    integer, intent(in) :: size_info(7), distr_info(7), block_size(7), proc_info(7)
    integer, intent(out), optional :: stat
    array_map = external_array_map(array_name, size_info, distr_info, block_size, proc_info, &
      len(array_name, kind=c_size_t))
    if (present(stat)) stat = external_status()
  end function

  subroutine array_type(array_descriptor, type_name, stat)
    integer, intent(in) :: array_descriptor
    character(*), intent(in) :: type_name
    integer, intent(out), optional :: stat
    call external_array_type(array_descriptor, type_name, len(type_name, kind=c_size_t))
    if (present(stat)) stat = external_status()
  end subroutine

  subroutine proc_map(proc_info, map_mode, user_map, stat)
    integer, intent(in) :: proc_info(7), map_mode, user_map(*)
    integer, intent(out), optional :: stat
    call external_proc_map(proc_info, map_mode, user_map)
    if (present(stat)) stat = external_status()
  end subroutine

  subroutine pread(array, size1, size2, array_descriptor, unit, io_buffer, io_size, stat)
    type(*) :: array(*)
    integer, intent(in) :: size1, size2, array_descriptor, unit, io_size
    type(*) :: io_buffer(*)
    integer, intent(out), optional :: stat
    call external_pread(array, size1, size2, array_descriptor, unit, io_buffer, io_size)
    if (present(stat)) stat = external_status()
  end subroutine

  subroutine pwrite(array, size1, size2, array_descriptor, unit, io_buffer, io_size, stat)
    type(*), intent(in) :: array(*)
    integer, intent(in) :: size1, size2, array_descriptor, unit, io_size
    type(*) :: io_buffer(*)
    integer, intent(out), optional :: stat
    call external_pwrite(array, size1, size2, array_descriptor, unit, io_buffer, io_size)
    if (present(stat)) stat = external_status()
  end subroutine

  !> Returns the status of the last primitive.
  integer function plait_status()
    plait_status = external_status()
  end function

  !> Returns the text of the last primitive's error.
  subroutine plait_message(text)
    character(*), intent(out) :: text
    call external_message(text, len(text, kind=c_size_t))
  end subroutine
end module
