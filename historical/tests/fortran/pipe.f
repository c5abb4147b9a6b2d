C     Writes or reads a pipe by the unchanged primitives of 1993.
C     Usage: pipe write|read NAME PROCESSORS
      PROGRAM PIPE
      integer size_info(7), distr_info(7), block_size(7), proc_info(7)
      integer A(12,8), B(12,8), ad, array_map, mybuffer(64), mymap(8)
      integer plait_status, nprocs, step
      character*80 role, name, digits
      external plait_status
      call get_command_argument(1, role)
      call get_command_argument(2, name)
      call get_command_argument(3, digits)
      read (digits, *) nprocs
      do 10 i = 1, 7
        size_info(i) = -1
        distr_info(i) = -1
        block_size(i) = -1
        proc_info(i) = -1
   10 continue
      size_info(1) = 12
      size_info(2) = 8
      if (role .eq. 'write') then
C       Columns, cyclic: element (i, j) of each step is 100*step + i.
        distr_info(1) = 0
        distr_info(2) = 2
        proc_info(1) = 1
        proc_info(2) = nprocs
        call proc_map(proc_info, 0, mymap)
        ad = array_map('A', size_info, distr_info, block_size,
     *    proc_info)
        call popen(3, name, 0, 0, 1, -1, -1)
        do 30 step = 1, 5
          do 20 j = 1, 8
            do 20 i = 1, 12
              A(i,j) = 100*step + i
   20     continue
          call pwrite(A, 12, 8, ad, 3, mybuffer, 64)
   30   continue
      else
C       Rows, by blocks.
        distr_info(1) = 1
        distr_info(2) = 0
        proc_info(1) = nprocs
        proc_info(2) = 1
        call proc_map(proc_info, 0, mymap)
        ad = array_map('B', size_info, distr_info, block_size,
     *    proc_info)
        call popen(3, name, 0, 0, 0, -1, -1)
        do 50 step = 1, 5
          do 40 j = 1, 8
            do 40 i = 1, 12
              B(i,j) = 0
   40     continue
          call pread(B, 12/nprocs, 8, ad, 3, mybuffer, 64)
          call check(B, 12/nprocs, 100*step)
   50   continue
        call pread(B, 12/nprocs, 8, ad, 3, mybuffer, 64)
        if (plait_status() .ne. 2) stop 'a step behind the last one'
      endif
      call pclose(3)
      if (plait_status() .ne. 0) stop 'pclose'
      END

      SUBROUTINE CHECK(B, rows, base)
      integer rows, base, B(rows,8), first
      first = mod(B(1,1) - base - 1, rows)
      do 20 j = 1, 8
        do 20 i = 1, rows
          if (first .ne. 0 .or. B(i,j) .ne. B(1,1) + i - 1)
     *      stop 'not what was written'
   20 continue
      END
