/* Layouts by brute force: the owner of every element, found one by one. */
#ifndef ORACLE_H
#define ORACLE_H

#include <plait.h>
#include <stdint.h>

/* What a new file of doubles of two dimensions is opened with. */
plait_open_options doubles(const int64_t* shape);

enum distribution { WHOLE, BLOCK, BALANCED, CYCLIC };

struct oracle_dimension {
  enum distribution distribution;
  int64_t k; /* of cyclic(k) */
  int64_t size;
  int64_t coordinates; /* 1 where it is not distributed */
};

/* Two dimensions, distributed over a row-major grid. */
struct oracle {
  struct oracle_dimension dimension[2];
  int fortran; /* the order of local arrays */
};

int64_t oracle_ranks(const struct oracle* oracle);
/* The same as a layout of Plait. */
plait_layout* oracle_layout(const struct oracle* oracle);
int64_t oracle_owner(const struct oracle* oracle, int64_t i, int64_t j);
/* The elements of a rank, each as its position i * columns + j in the whole array, in the order of the local array.
 * Returns how many; `positions` has room for the whole array, or is NULL. */
int64_t oracle_positions(const struct oracle* oracle, int64_t rank, int64_t* positions);

/* Many layouts of one shape for a number of ranks; returns how many, at most `allocate`. */
int oracle_examples(int64_t rows, int64_t columns, int64_t ranks, struct oracle* examples, int allocate);

/* What the tests put at a position. */
double oracle_value(int64_t position);
/* Local arrays of the ranks first to last, one behind the other, filled; to be freed. */
double* oracle_filled(const struct oracle* oracle, int64_t first, int64_t last, int64_t* elements);
/* Counts the elements of such arrays that are wrong. */
int64_t oracle_wrong(const struct oracle* oracle, int64_t first, int64_t last, const double* values);

#endif
