c     sf_fsync as programs call it that take it for a subroutine.
      subroutine flush_records(handle)
      implicit none
      include 'sf.fh'
      integer handle
      call sf_fsync(handle)
      end
