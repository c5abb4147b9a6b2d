// Default options of the sanitizers.  ASAN_OPTIONS and TSAN_OPTIONS override them.

extern "C" {

// Undefined behaviour ends a program by SIGILL, or by SIGTRAP on some processors; AddressSanitizer then prints the
// line.
const char* __asan_default_options() {
  return "detect_leaks=1:strict_string_checks=1:handle_sigill=1:handle_sigtrap=1";
}

const char* __tsan_default_options() { return "halt_on_error=1:second_deadlock_stack=1"; }
}
