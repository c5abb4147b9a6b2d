# The copy kernels are one source compiled once for each instruction set; the processor chooses at run time.
# A file whose flags are missing, or whose processor family is another, compiles to an empty entry of the table.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set_source_files_properties(src/copy/kernels_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mbmi2")
  set_source_files_properties(src/copy/kernels_avx512.cpp PROPERTIES COMPILE_OPTIONS
    "-mavx2;-mbmi2;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vbmi")
endif()
