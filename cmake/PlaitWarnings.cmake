# The project's warnings, for its own targets only.
function(plait_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(PLAIT_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
