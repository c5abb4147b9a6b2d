/* Wrong arguments for calls of the library.  A generator with a fixed seed selects them, the same ones on all ranks. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <plait.h>
#include <stddef.h>
#include <stdint.h>

/* The time after which SIGALRM ends a rank that waits forever. */
enum { SECONDS = 60 };

extern uint64_t seed;
/* Returns a random number from 0 to end - 1, the same on all ranks. */
unsigned draw(unsigned end);
/* Each returns one of several values of its type that are wrong for most arguments; `value`, any number, selects it. */
int64_t wrong_number(unsigned value);
int wrong_int(unsigned value);
size_t wrong_size(unsigned value);
const char* wrong_text(unsigned value);

/* Makes a call in which the argument with number `field` is wrong; with -1, all arguments are valid. */
typedef plait_status (*tested_call)(int field, unsigned value);

/* Makes calls with each argument wrong in turn, `rounds` times, on one rank or on all; then one valid call. */
void try_call(const char* name, tested_call call, int fields, int rounds);

#endif
