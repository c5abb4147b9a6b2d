/*
 * Direct system calls. They bypass the C library, whose functions jump to the ones of this library (code/patch.c).
 *
 * Each returns the kernel's result: a value, or -errno. errno is unchanged.
 */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

static inline long raw_call6(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

static inline long raw_call6(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
}

#else
#error "The recording library knows x86-64 and arm64."
#endif

#define RAW6(n, a, b, c, d, e, f) raw_call6((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define RAW5(n, a, b, c, d, e) RAW6(n, a, b, c, d, e, 0)
#define RAW4(n, a, b, c, d) RAW6(n, a, b, c, d, 0, 0)
#define RAW3(n, a, b, c) RAW6(n, a, b, c, 0, 0, 0)
#define RAW2(n, a, b) RAW6(n, a, b, 0, 0, 0, 0)
#define RAW1(n, a) RAW6(n, a, 0, 0, 0, 0, 0)
#define RAW0(n) RAW6(n, 0, 0, 0, 0, 0, 0)

/* Converts a result to the C library's form: the value, or -1 and errno. */
static inline long c_result(long result) {
  if (__builtin_expect((unsigned long)result > -4096UL, 0)) {
    errno = (int)-result;
    return -1;
  }
  return result;
}
