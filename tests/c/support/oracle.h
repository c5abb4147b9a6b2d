/* Layouts by brute force: the owner of every element, found one by one. */
#ifndef ORACLE_H
#define ORACLE_H

#include <plait.h>
#include <stdint.h>

/* Returns options that open a new file of doubles in two dimensions. */
plait_open_options doubles(const int64_t* shape);

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
  int fortran; /* whether local arrays have Fortran's order */
};

int64_t oracle_ranks(const struct oracle* oracle);
/* Returns this layout as an object of Plait; the caller frees it. */
plait_layout* oracle_layout(const struct oracle* oracle);
int64_t oracle_owner(const struct oracle* oracle, int64_t i, int64_t j);
/* Finds the elements of a rank, in the order of its local array: the position of element (i, j) of the whole array is
 * i * columns + j.  Returns their number; `positions` has room for the whole array, or is NULL. */
int64_t oracle_positions(const struct oracle* oracle, int64_t rank, int64_t* positions);

/* Many layouts of one shape for a number of ranks.  Returns their number, at most `capacity`. */
int oracle_examples(int64_t rows, int64_t columns, int64_t ranks, struct oracle* examples, int capacity);

/* The value that tests store at a position. */
double oracle_value(int64_t position);
/* Returns the local arrays of the ranks from `first` to `last`, which is included, one after the other and filled with
 * oracle_value(); the caller frees them.  Sets `elements`, unless it is NULL, to the number of all their elements. */
double* oracle_filled(const struct oracle* oracle, int64_t first, int64_t last, int64_t* elements);
/* Counts the elements in which local arrays differ from those of oracle_filled(). */
int64_t oracle_wrong(const struct oracle* oracle, int64_t first, int64_t last, const double* values);

#endif
