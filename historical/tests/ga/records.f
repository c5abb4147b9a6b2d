c     Records of a shared file, in the style of programs for Global Arrays:
c     each process writes its records with several requests in flight, and
c     then reads the records of all processes.
      program records
      implicit none
      include 'sf.fh'
      integer lrec, maxreq
      parameter (lrec=1500, maxreq=4)
      double precision buffer(lrec, maxreq), found(lrec)
      double precision recsiz, offset
      integer ids(maxreq), me, nproc, nrec, handle, other
      integer irec, i, used, rc, wrong, sf_fsync
      integer ga_nodeid, ga_nnodes
      character*80 msg
c
      call pbeginf()
      call ga_initialize()
      me = ga_nodeid()
      nproc = ga_nnodes()
      nrec = 7*nproc + 3
      recsiz = 8*lrec
c
      rc = sf_create('records', nrec*recsiz, nrec*recsiz, recsiz,
     $     handle)
      call check(rc, 'sf_create')
      if (handle .ne. -3000) call ga_error('the first handle', handle)
      rc = sf_create_suffix('records  ', -1d0, -1d0, -1d0, other, 17)
      call check(rc, 'sf_create_suffix')
      if (other .ne. -2999) call ga_error('the second handle', other)
c
c     from the last record to the first one
      used = 0
      do irec = nrec - 1, 0, -1
         if (mod(irec, nproc) .eq. me) then
            if (used .eq. maxreq) then
               rc = sf_waitall(ids, maxreq)
               call check(rc, 'sf_waitall')
               used = 0
            end if
            used = used + 1
            do i = 1, lrec
               buffer(i, used) = 10000d0*irec + i
            end do
            offset = irec*recsiz
            rc = sf_write(handle, offset, recsiz, buffer(1, used),
     $           ids(used))
            call check(rc, 'sf_write')
         end if
      end do
      rc = sf_waitall(ids, used)
      call check(rc, 'sf_waitall')
      do i = 1, used
         if (ids(i) .ne. -1) call ga_error('a waited id', ids(i))
      end do
      call ga_sync()
c
      wrong = 0
      do irec = 0, nrec - 1
         offset = irec*recsiz
         rc = sf_read(handle, offset, recsiz, found, ids(1))
         call check(rc, 'sf_read')
         rc = sf_wait(ids(1))
         call check(rc, 'sf_wait')
         rc = sf_wait(ids(1))
         call check(rc, 'sf_wait for nothing')
         do i = 1, lrec
            if (found(i) .ne. 10000d0*irec + i) wrong = wrong + 1
         end do
      end do
      if (wrong .ne. 0) call ga_error('wrong numbers', wrong)
c
c     one number of each process at a large offset; zeros precede it
      offset = 3d9 + 8d0*me
      rc = sf_write(other, offset, 8d0, found(me + 1), ids(1))
      call check(rc, 'sf_write')
      rc = sf_wait(ids(1))
      call check(rc, 'sf_wait')
      call ga_sync()
      rc = sf_fsync(other)
      call check(rc, 'sf_fsync')
      rc = sf_rwtor(other)
      call check(rc, 'sf_rwtor')
      rc = sf_write(other, 0d0, 8d0, found, ids(1))
      if (rc .ne. -1993) call ga_error('writing what is read only', rc)
      if (ids(1) .ne. -1) call ga_error('its id', ids(1))
      offset = 3d9 - 8d0
      rc = sf_read(other, offset, 8d0*(nproc + 1), found, ids(1))
      call check(rc, 'sf_read')
      rc = sf_wait(ids(1))
      call check(rc, 'sf_wait')
      if (found(1) .ne. 0) call ga_error('what was never written', 0)
      do i = 1, nproc
         if (found(i + 1) .ne. 10000d0*(nrec - 1) + i)
     $      call ga_error('what is far out', i)
      end do
c
      rc = sf_close(other)
      call check(rc, 'sf_close')
      rc = sf_read(other, offset, 8d0, found, ids(1))
      if (rc .ne. 1) call ga_error('reading what is closed', rc)
      rc = sf_open(huge(other))
      if (rc .ne. 1) call ga_error('the largest handle', rc)
      rc = sf_open(-huge(other))
      if (rc .ne. 1) call ga_error('the smallest handle', rc)
      rc = sf_open(other)
      call check(rc, 'sf_open')
      rc = sf_read(other, 3d9, 8d0, found, ids(1))
      call check(rc, 'sf_read')
      rc = sf_wait(ids(1))
      call check(rc, 'sf_wait')
      if (found(1) .ne. 10000d0*(nrec - 1) + 1)
     $   call ga_error('what a file keeps', 0)
c
      rc = sf_read(handle, nrec*recsiz, 8d0, found, ids(1))
      if (rc .eq. 0) rc = sf_wait(ids(1))
      call sf_errmsg(rc, msg)
      if (rc .ne. 1 .and. rc .ne. -1977) call ga_error(msg, rc)
      if (index(msg, 'offset') .eq. 0) call ga_error(msg, 0)
      call ga_sync()
      call flush_records(other)
      rc = sf_destroy(handle)
      call check(rc, 'sf_destroy')
      if (handle .ne. 0) call ga_error('a handle of nothing', handle)
      rc = sf_destroy(other)
      call check(rc, 'sf_destroy')
      call ga_terminate()
      call pend()
      end
c
      subroutine check(rc, what)
      implicit none
      integer rc
      character*(*) what
      character*200 msg
      if (rc .eq. 0) return
      call sf_errmsg(rc, msg)
      print *, what, ': ', msg
      call ga_error(what, rc)
      end
