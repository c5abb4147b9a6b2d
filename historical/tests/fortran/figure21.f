C     The sample program of Bordawekar's thesis (1993), figure 21: reads
C     a 64 x 64 array column-cyclic from the file TEST, computes, and
C     writes it back, on 4 processors.
C
C     Corrections: the scan ran together the declaration of mymap and the
C     COMMON statement, and lost the underscores of names, the columns and
C     END; the figure calls pwrite's last argument iobuffer instead of
C     iosize, and does not declare the sizes of the arrays in COMMON.
C     The computation, for which the figure has dots, doubles A and adds
C     to each element its position, so that a test can detect both.
      PROGRAM EXAMPLE
      integer size_info(7),distr_info(7),block_size(7),proc_info(7)
      integer A(64,16), ad, array_map, mybuffer, TEMP(1024)
      integer mymap(1536)
      integer F_INFO(6), P_INFO(3,4), A_INFO(4,7)
      COMMON /INFO/ F_INFO, P_INFO, A_INFO
      size_info(1)=64 ! Global Size in first dimension
      size_info(2)=64 ! Global Size in second dimension
      distr_info(1)=0
      distr_info(2)=2 ! Column Cyclic Distribution
      block_size(1)=-1 ! Block-size not required
      block_size(2)=-1
      proc_info(1)=1
      proc_info(2)=4 !Four processors along the column
      call proc_map(proc_info,0,mymap)
      call popen(3,'TEST',0,0,0,-1,-1) !Old File
      ad = array_map('A', size_info, distr_info, block_size, proc_info)
      iosize = 1024
      call pread(A,64,16,ad,3,TEMP,iosize)
C Use a temporory buffer called TEMP of size iosize.
C     Computation starts here.
      do 20 j = 1, 16
        do 10 i = 1, 64
          A(i,j) = 2*A(i,j) + i + 64*(j - 1)
   10   continue
   20 continue
      call pwrite(A,64,16,ad,3,TEMP,iosize)
      call pclose(3)
      STOP
      END
