/* Wrong arguments, drawn at random, the same ones on all ranks. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <plait.h>
#include <stddef.h>
#include <stdint.h>

/* The time after which SIGALRM ends a rank that waits forever. */
enum { SECONDS = 60 };

extern uint64_t seed;
unsigned draw(unsigned below);
int64_t number(unsigned value);
int small(unsigned value);
size_t size(unsigned value);
const char* text(unsigned value);

/* Makes a call in which the argument with number `field` is wrong; with -1, all arguments are valid. */
typedef plait_status (*tried)(int field, unsigned value);

/* Makes calls with each argument wrong in turn, `rounds` times, on one rank or on all; then one valid call. */
void try_call(const char* name, tried call, int fields, int rounds);

#endif
