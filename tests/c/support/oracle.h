/* Layouts of two-dimensional arrays, for which the owner of each element is computed without the library. */
#ifndef ORACLE_H
#define ORACLE_H

#include <plait.h>
#include <stdint.h>

/* Returns options that open a new file of doubles in two dimensions. */
plait_open_options double_options(const int64_t* shape);

enum distribution { WHOLE, BLOCK, BALANCED, CYCLIC };

struct oracle_dimension {
  enum distribution distribution;
  int64_t k; /* the block size of cyclic(k) */
  int64_t size;
  int64_t coordinates; /* the size of the grid in this dimension; 1 if it is not distributed */
};

/* Two dimensions, distributed over a row-major grid. */
struct oracle {
  struct oracle_dimension dimension[2];
  int fortran; /* 1 if local arrays are in Fortran order, 0 for C order */
};

/* Returns the number of ranks. */
int64_t oracle_ranks(const struct oracle* oracle);
/* Returns this layout as an object of Plait; the caller frees it. */
plait_layout* oracle_layout(const struct oracle* oracle);
/* Returns the rank that has element (i, j). */
int64_t oracle_owner(const struct oracle* oracle, int64_t i, int64_t j);
/* Lists the elements of a rank in the order of its local array.  Element (i, j) of the whole array has the position
 * i * columns + j.  Returns the number of elements; `positions` has room for the whole array, or is NULL. */
int64_t oracle_positions(const struct oracle* oracle, int64_t rank, int64_t* positions);

/* Makes many layouts of one shape for a number of ranks.  Returns how many, at most `capacity`. */
int oracle_examples(int64_t rows, int64_t columns, int64_t ranks, struct oracle* examples, int capacity);

/* The value that tests store at a position. */
double oracle_value(int64_t position);
/* Returns the local arrays of the ranks `first` to `last` (inclusive), one after the other, filled with oracle_value().
 * The caller frees them.  Sets `elements`, unless it is NULL, to the number of elements of all these arrays. */
double* oracle_local_arrays(const struct oracle* oracle, int64_t first, int64_t last, int64_t* elements);
/* Returns the number of elements that differ from those of oracle_local_arrays(). */
int64_t oracle_count_differences(const struct oracle* oracle, int64_t first, int64_t last, const double* values);

#endif
