/* Wrong arguments, drawn alike on all ranks. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <plait.h>
#include <stddef.h>
#include <stdint.h>

/* Until SIGALRM ends a rank that waits for ever. */
enum { SECONDS = 60 };

extern uint64_t seed;
unsigned draw(unsigned below);
int64_t number(unsigned value);
int small(unsigned value);
size_t size(unsigned value);
const char* text(unsigned value);

/* A call with its argument `field` wrong, none where that is -1. */
typedef plait_status (*tried)(int field, unsigned value);

/* Spoils each argument some times, each time on one rank or on all, and then none. */
void try_call(const char* name, tried call, int fields, int rounds);

#endif
