#include "oracle.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

plait_open_options double_options(const int64_t* shape) {
  plait_open_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.shape = shape;
  options.dimensions = 2;
  options.dtype = "<f8";
  return options;
}

int64_t oracle_ranks(const struct oracle* oracle) {
  return oracle->dimension[0].coordinates * oracle->dimension[1].coordinates;
}

/* Returns the coordinate that owns an index. */
static int64_t owning_coordinate(const struct oracle_dimension* dimension, int64_t index) {
  const int64_t coordinates = dimension->coordinates;
  switch (dimension->distribution) {
    case WHOLE: return 0;
    case BLOCK: return index / ((dimension->size + coordinates - 1) / coordinates);
    case CYCLIC: return index / dimension->k % coordinates;
    case BALANCED: break;
  }
  int64_t owner = 0;
  for (int64_t remaining = index;; ++owner) {
    const int64_t owned = dimension->size / coordinates + (owner < dimension->size % coordinates ? 1 : 0);
    if (remaining < owned) return owner;
    remaining -= owned;
  }
}

int64_t oracle_owner(const struct oracle* oracle, int64_t i, int64_t j) {
  return owning_coordinate(&oracle->dimension[0], i) * oracle->dimension[1].coordinates +
         owning_coordinate(&oracle->dimension[1], j);
}

int64_t oracle_positions(const struct oracle* oracle, int64_t rank, int64_t* positions) {
  const int64_t rows = oracle->dimension[0].size;
  const int64_t columns = oracle->dimension[1].size;
  int64_t count = 0;
  for (int64_t position = 0; position < rows * columns; ++position) {
    const int64_t i = oracle->fortran ? position % rows : position / columns;
    const int64_t j = oracle->fortran ? position / rows : position % columns;
    if (oracle_owner(oracle, i, j) != rank) continue;
    if (positions != NULL) positions[count] = i * columns + j;
    ++count;
  }
  return count;
}

static void print_distribution(const struct oracle_dimension* dimension, char* text, size_t size) {
  switch (dimension->distribution) {
    case WHOLE: snprintf(text, size, "*"); break;
    case BLOCK: snprintf(text, size, "block"); break;
    case BALANCED: snprintf(text, size, "balanced"); break;
    case CYCLIC: snprintf(text, size, "cyclic(%d)", (int)dimension->k); break;
  }
}

plait_layout* oracle_layout(const struct oracle* oracle) {
  char distributions[2][32];
  char grid[64] = "";
  char text[256];
  int used = 0;
  for (int d = 0; d < 2; ++d) {
    print_distribution(&oracle->dimension[d], distributions[d], sizeof distributions[d]);
    if (oracle->dimension[d].distribution != WHOLE)
      used += snprintf(grid + used, sizeof grid - (size_t)used, "%s%d", used > 0 ? ", " : "",
                       (int)oracle->dimension[d].coordinates);
  }
  snprintf(text, sizeof text, "%dx%d (%s, %s)%s%s%s%s", (int)oracle->dimension[0].size, (int)oracle->dimension[1].size,
           distributions[0], distributions[1], used > 0 ? " onto (" : "", grid, used > 0 ? ")" : "",
           oracle->fortran ? " order=F" : "");
  plait_layout* layout = NULL;
  CHECK_OK(plait_layout_parse(text, &layout));
  return layout;
}

int oracle_examples(int64_t rows, int64_t columns, int64_t ranks, struct oracle* examples, int capacity) {
  const struct {
    enum distribution distribution;
    int64_t k;
  } kinds[] = {{BLOCK, 0}, {BALANCED, 0}, {CYCLIC, 1}, {CYCLIC, 3}};
  int count = 0;
  for (int64_t p = 1; p <= ranks; ++p) {
    if (ranks % p != 0) continue;
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) {
        const struct oracle example = {
            {{kinds[a].distribution, kinds[a].k, rows, p}, {kinds[b].distribution, kinds[b].k, columns, ranks / p}},
            (a + b) % 2};
        if (count < capacity) examples[count++] = example;
      }
  }
  for (int a = 0; a < 4 && count + 1 < capacity; ++a) {
    const struct oracle by_rows = {{{kinds[a].distribution, kinds[a].k, rows, ranks}, {WHOLE, 0, columns, 1}}, a % 2};
    const struct oracle by_columns = {{{WHOLE, 0, rows, 1}, {kinds[a].distribution, kinds[a].k, columns, ranks}},
                                      a % 2};
    examples[count++] = by_rows;
    examples[count++] = by_columns;
  }
  return count;
}

double oracle_value(int64_t position) { return 0.5 + 3.0 * (double)position; }

static int64_t count_elements(const struct oracle* oracle, int64_t first, int64_t last) {
  int64_t count = 0;
  for (int64_t rank = first; rank <= last; ++rank) count += oracle_positions(oracle, rank, NULL);
  return count;
}

double* oracle_local_arrays(const struct oracle* oracle, int64_t first, int64_t last, int64_t* elements) {
  const int64_t count = count_elements(oracle, first, last);
  int64_t* positions = allocate((size_t)(oracle->dimension[0].size * oracle->dimension[1].size) * sizeof *positions);
  double* values = allocate((size_t)count * sizeof *values);
  int64_t next = 0;
  for (int64_t rank = first; rank <= last; ++rank) {
    const int64_t owned = oracle_positions(oracle, rank, positions);
    for (int64_t n = 0; n < owned; ++n) values[next++] = oracle_value(positions[n]);
  }
  free(positions);
  if (elements != NULL) *elements = count;
  return values;
}

int64_t oracle_count_differences(const struct oracle* oracle, int64_t first, int64_t last, const double* values) {
  int64_t count = 0;
  int64_t differences = 0;
  double* expected = oracle_local_arrays(oracle, first, last, &count);
  for (int64_t n = 0; n < count; ++n) differences += values[n] != expected[n];
  free(expected);
  return differences;
}
