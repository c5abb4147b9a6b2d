c     Calls sf_fsync as a subroutine, as some programs do.
      subroutine flush_records(handle)
      implicit none
      include 'sf.fh'
      integer handle
      call sf_fsync(handle)
      end
