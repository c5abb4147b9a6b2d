# The recording library: plain C, so that it brings no C++ library into the programs that it is preloaded into.
file(GLOB_RECURSE capture_sources CONFIGURE_DEPENDS src/trace/capture/*.c)
if(capture_sources AND NOT PLAIT_SANITIZE)
  enable_language(ASM)
  file(GLOB_RECURSE capture_entries CONFIGURE_DEPENDS src/trace/capture/*.S)
  file(GLOB event_sources CONFIGURE_DEPENDS src/base/events/*.c)
  add_library(plait_capture SHARED ${capture_sources} ${capture_entries} ${event_sources})
  set_target_properties(plait_capture PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS ON C_VISIBILITY_PRESET hidden)
  target_include_directories(plait_capture PRIVATE src include)
  target_link_libraries(plait_capture PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  # Its names stand for the C library's everywhere, but what it uses itself is its own.
  target_link_options(plait_capture PRIVATE -Wl,-Bsymbolic)
  plait_warnings(plait_capture)
  # Functions' addresses are kept beside others, which POSIX allows and ISO C does not.
  target_compile_options(plait_capture PRIVATE -ftls-model=initial-exec $<$<COMPILE_LANGUAGE:C>:-Wno-pedantic>)
  list(APPEND plait_libraries plait_capture)
endif()
