! The C functions that the module plait calls for communicators, layouts and errors.
module plait_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  interface
    integer(c_int) function c_world(comm) bind(c, name='plait_fortran_world')
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: comm
    end function
    integer(c_int) function c_alone(comm) bind(c, name='plait_fortran_alone')
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: comm
    end function
    integer(c_int) function c_from_mpi(communicator, comm) bind(c, name='plait_fortran_from_mpi')
      import :: c_int, c_ptr
      integer(c_int), value :: communicator
      type(c_ptr), intent(out) :: comm
    end function
    integer(c_int) function c_comm_barrier(comm) bind(c, name='plait_comm_barrier')
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
    end function
    integer(c_int) function c_comm_rank(comm, rank) bind(c, name='plait_comm_rank')
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
      integer(c_int), intent(out) :: rank
    end function
    integer(c_int) function c_comm_size(comm, size) bind(c, name='plait_comm_size')
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
      integer(c_int), intent(out) :: size
    end function
    integer(c_int) function c_comm_free(comm) bind(c, name='plait_fortran_comm_free')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: comm
    end function
    integer(c_int) function c_parse(text, dimensions, shape, layout) bind(c, name='plait_fortran_parse')
      import :: c_int, c_int64_t, c_ptr, c_char
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: shape(*)
      type(c_ptr), intent(out) :: layout
    end function
    integer(c_int) function c_layout_free(layout) bind(c, name='plait_fortran_layout_free')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: layout
    end function
    integer(c_int) function c_dimensions(layout, dimensions) bind(c, name='plait_layout_dimensions')
      import :: c_int, c_ptr
      type(c_ptr), value :: layout
      integer(c_int), intent(out) :: dimensions
    end function
    integer(c_int) function c_shape(layout, capacity, shape) bind(c, name='plait_layout_shape')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      integer(c_int), value :: capacity
      integer(c_int64_t), intent(out) :: shape(*)
    end function
    integer(c_int) function c_ranks(layout, ranks, ranks_end) bind(c, name='plait_layout_ranks')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      integer(c_int64_t), intent(out) :: ranks, ranks_end
    end function
    integer(c_int) function c_local_shape(layout, rank, capacity, shape) bind(c, name='plait_layout_padded_shape')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      integer(c_int64_t), value :: rank
      integer(c_int), value :: capacity
      integer(c_int64_t), intent(out) :: shape(*)
    end function
    integer(c_int) function c_owned_shape(layout, rank, capacity, shape) bind(c, name='plait_layout_local_shape')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      integer(c_int64_t), value :: rank
      integer(c_int), value :: capacity
      integer(c_int64_t), intent(out) :: shape(*)
    end function
    integer(c_int) function c_indices(layout, rank, dimension, capacity, indices) bind(c, name='plait_layout_indices')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      integer(c_int64_t), value :: rank, capacity
      integer(c_int), value :: dimension
      integer(c_int64_t), intent(out) :: indices(*)
    end function
    integer(c_int) function c_layout_text(layout, text) bind(c, name='plait_layout_text')
      import :: c_int, c_ptr
      type(c_ptr), value :: layout
      type(c_ptr), intent(out) :: text
    end function
    integer(c_int) function c_text_free(text) bind(c, name='plait_text_free')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: text
    end function
    function c_message(handle) result(text) bind(c, name='plait_message')
      import :: c_ptr
      type(c_ptr), value :: handle
      type(c_ptr) :: text
    end function
    function found_comm(comm) result(found) bind(c, name='plait_fortran_comm')
      import :: c_ptr
      type(c_ptr), value :: comm
      type(c_ptr) :: found
    end function
    function found_layout(layout) result(found) bind(c, name='plait_fortran_layout')
      import :: c_ptr
      type(c_ptr), value :: layout
      type(c_ptr) :: found
    end function
    integer(c_int) function c_fail(message) bind(c, name='plait_fortran_fail')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: message(*)
    end function
    subroutine c_report(message, rank) bind(c, name='plait_fortran_report')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: message(*)
      integer(c_int), value :: rank
    end subroutine
    integer(c_size_t) function c_length(text) bind(c, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
  end interface
end module
