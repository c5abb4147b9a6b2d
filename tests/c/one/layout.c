/* Layouts and conversions, compared with a computation element by element, and their errors. */
#include <plait.h>
#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "oracle.h"

static plait_layout* parse(const char* text) {
  plait_layout* layout = NULL;
  CHECK_OK(plait_layout_parse(text, &layout));
  return layout;
}

void layout_text(void) {
  plait_layout* layout = parse("12x12 (BLOCK, cyclic(3)) onto (2, 2)");
  plait_layout* same = NULL;
  plait_layout* other = parse("12x12 (block, cyclic(2)) onto (2, 2)");
  const int64_t shape[2] = {12, 12};
  char* text = NULL;
  int equal = -1;
  CHECK_OK(plait_layout_parse_shape("(block(6), cyclic(3)) onto (2, 2)", 2, shape, &same));
  CHECK_OK(plait_layout_equal(layout, same, &equal));
  CHECK_EQUAL(equal, 1);
  CHECK_OK(plait_layout_equal(layout, other, &equal));
  CHECK_EQUAL(equal, 0);
  CHECK_OK(plait_layout_text(same, &text));
  CHECK(strcmp(text, "12x12 (block, cyclic(3)) onto (2, 2)") == 0);
  CHECK_OK(plait_text_free(&text));
  CHECK(text == NULL);
  CHECK_OK(plait_text_free(&text));
  CHECK_OK(plait_layout_free(&layout));
  CHECK(layout == NULL);
  CHECK_OK(plait_layout_free(&layout));
  CHECK_OK(plait_layout_free(&same));
  CHECK_OK(plait_layout_free(&other));
  CHECK_OK(plait_layout_free(NULL));
  CHECK(strlen(plait_version()) >= 5);
}

void layout_shapes(void) {
  plait_layout* layout = parse("5x7x2 (balanced, *, cyclic) onto (3, 2) order=F");
  int dimensions = 0;
  int64_t shape[PLAIT_MAX_DIMENSIONS];
  int order[3];
  int64_t elements = 0;
  int64_t ranks = 0;
  int64_t end = 0;
  int64_t numbers[6];
  int has = -1;
  int64_t arrays = 0;
  int64_t bytes = 0;
  CHECK_OK(plait_layout_dimensions(layout, &dimensions));
  CHECK_EQUAL(dimensions, 3);
  CHECK_OK(plait_layout_shape(layout, PLAIT_MAX_DIMENSIONS, shape));
  CHECK(shape[0] == 5 && shape[1] == 7 && shape[2] == 2);
  CHECK_OK(plait_layout_elements(layout, &elements));
  CHECK_EQUAL(elements, 70);
  CHECK_OK(plait_layout_ranks(layout, &ranks, &end));
  CHECK(ranks == 6 && end == 6);
  CHECK_OK(plait_layout_ranks(layout, NULL, NULL));
  CHECK_OK(plait_layout_rank_numbers(layout, 6, numbers));
  CHECK(numbers[0] == 0 && numbers[5] == 5);
  CHECK_OK(plait_layout_has_rank(layout, 5, &has));
  CHECK_EQUAL(has, 1);
  CHECK_OK(plait_layout_has_rank(layout, 6, &has));
  CHECK_EQUAL(has, 0);
  CHECK_OK(plait_layout_local_shape(layout, 4, 3, shape));
  CHECK(shape[0] == 1 && shape[1] == 7 && shape[2] == 1);
  CHECK_OK(plait_layout_order(layout, 3, order));
  CHECK(order[0] == 2 && order[1] == 1 && order[2] == 0);
  CHECK_OK(plait_layout_held(layout, plait_alone(), 4, &arrays, &bytes));
  CHECK(arrays == 6 && bytes == 280);
  CHECK_OK(plait_layout_held(layout, plait_alone(), 4, NULL, NULL));
  CHECK_OK(plait_layout_free(&layout));

  plait_layout* scalar = NULL;
  CHECK_OK(plait_layout_parse_shape("()", 0, NULL, &scalar));
  CHECK_OK(plait_layout_dimensions(scalar, &dimensions));
  CHECK_EQUAL(dimensions, 0);
  CHECK_OK(plait_layout_shape(scalar, 0, NULL));
  CHECK_OK(plait_layout_held(scalar, plait_alone(), 8, &arrays, &bytes));
  CHECK(arrays == 1 && bytes == 8);
  CHECK_OK(plait_layout_free(&scalar));
}

/* Compares the local shape, indices, positions and owners of one rank with the oracle. */
static void check_rank(const plait_layout* layout, const struct oracle* oracle, int64_t rank) {
  const int64_t columns = oracle->dimension[1].size;
  int64_t* positions = allocate((size_t)(oracle->dimension[0].size * columns) * sizeof *positions);
  const int64_t count = oracle_positions(oracle, rank, positions);
  int64_t shape[2];
  CHECK_OK(plait_layout_local_shape(layout, rank, 2, shape));
  CHECK_EQUAL(shape[0] * shape[1], count);
  int64_t* rows = allocate((size_t)shape[0] * sizeof *rows);
  int64_t* own_columns = allocate((size_t)shape[1] * sizeof *own_columns);
  CHECK_OK(plait_layout_indices(layout, rank, 0, shape[0], rows));
  CHECK_OK(plait_layout_indices(layout, rank, 1, shape[1], own_columns));
  for (int64_t n = 0; n < count; ++n) {
    const int64_t index[2] = {positions[n] / columns, positions[n] % columns};
    int64_t local[2];
    int64_t back[2];
    int64_t owner = -1;
    int64_t owners = 0;
    CHECK_OK(plait_layout_to_local(layout, index, rank, local));
    CHECK_EQUAL(oracle->fortran ? local[1] * shape[0] + local[0] : local[0] * shape[1] + local[1], n);
    CHECK(rows[local[0]] == index[0] && own_columns[local[1]] == index[1]);
    CHECK_OK(plait_layout_to_global(layout, local, rank, back));
    CHECK(back[0] == index[0] && back[1] == index[1]);
    CHECK_OK(plait_layout_owners(layout, index, 1, &owner, &owners));
    CHECK(owners == 1 && owner == rank);
  }
  free(rows);
  free(own_columns);
  free(positions);
}

void layout_elements_against_brute_force(void) {
  const int64_t ranks[] = {1, 2, 3, 4, 6};
  const int64_t sizes[][2] = {{7, 5}, {12, 8}, {1, 9}};
  struct oracle examples[80];
  for (size_t r = 0; r < sizeof ranks / sizeof *ranks; ++r)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      const int count = oracle_examples(sizes[s][0], sizes[s][1], ranks[r], examples, 80);
      for (int e = 0; e < count; ++e) {
        plait_layout* layout = oracle_layout(&examples[e]);
        for (int64_t rank = 0; rank < ranks[r]; ++rank) check_rank(layout, &examples[e], rank);
        CHECK_OK(plait_layout_free(&layout));
      }
    }
}

void layout_halo(void) {
  plait_layout* layout = parse("8x6 (block, block) onto (2, 3) halo=(1, 2)");
  int64_t shape[2];
  int64_t bytes = 0;
  CHECK_OK(plait_layout_local_shape(layout, 0, 2, shape));
  CHECK(shape[0] == 4 && shape[1] == 2);
  CHECK_OK(plait_layout_padded_shape(layout, 0, 2, shape));
  CHECK(shape[0] == 6 && shape[1] == 6);
  CHECK_OK(plait_layout_held(layout, plait_alone(), 8, NULL, &bytes));
  CHECK_EQUAL(bytes, 6 * 6 * 6 * 8);
  CHECK_OK(plait_layout_free(&layout));

  plait_layout* copies = parse("6 (block) onto (2, 3) replicate=1");
  const int64_t index = 4;
  int64_t owners[3] = {-1, -1, -1};
  int64_t count = 0;
  CHECK_OK(plait_layout_owners(copies, &index, 0, NULL, &count));
  CHECK_EQUAL(count, 3);
  CHECK_OK(plait_layout_owners(copies, &index, 3, owners, NULL));
  CHECK(owners[0] == 3 && owners[1] == 4 && owners[2] == 5);
  CHECK_FAILS(plait_layout_owners(copies, &index, 2, owners, &count), PLAIT_ERROR_ARGUMENT, "room for 2");
  CHECK_OK(plait_layout_free(&copies));
}

void layout_errors(void) {
  plait_layout* layout = parse("8x6 (block, *) onto (2)");
  plait_layout* none = NULL;
  const int64_t shape[1] = {4};
  const int64_t outside[2] = {8, 0};
  int64_t numbers[8];
  int one = 0;
  char* text = NULL;
  plait_layout* created = layout;
  CHECK_FAILS(plait_layout_parse("8x6 (blok, *) onto (2)", &created), PLAIT_ERROR_ARGUMENT, "blok");
  CHECK(created == NULL);
  CHECK_FAILS(plait_layout_parse(NULL, &none), PLAIT_ERROR_ARGUMENT, "text is NULL");
  CHECK_FAILS(plait_layout_parse("8 (*)", NULL), PLAIT_ERROR_ARGUMENT, "layout is NULL");
  CHECK_FAILS(plait_layout_parse_shape("(*)", 33, numbers, &none), PLAIT_ERROR_ARGUMENT, "33 dimensions");
  CHECK_FAILS(plait_layout_parse_shape("(*)", -1, numbers, &none), PLAIT_ERROR_ARGUMENT, "-1 dimensions");
  CHECK_FAILS(plait_layout_parse_shape("(*)", 1, NULL, &none), PLAIT_ERROR_ARGUMENT, "shape is NULL");
  CHECK_FAILS(plait_layout_parse_shape("(*, *)", 1, shape, &none), PLAIT_ERROR_ARGUMENT, "");
  CHECK(none == NULL);
  CHECK_FAILS(plait_layout_text(NULL, &text), PLAIT_ERROR_ARGUMENT, "layout is NULL");
  CHECK_FAILS(plait_layout_text(layout, NULL), PLAIT_ERROR_ARGUMENT, "text is NULL");
  CHECK_FAILS(plait_layout_equal(layout, NULL, &one), PLAIT_ERROR_ARGUMENT, "other is NULL");
  CHECK_FAILS(plait_layout_dimensions(layout, NULL), PLAIT_ERROR_ARGUMENT, "dimensions is NULL");
  CHECK_FAILS(plait_layout_shape(layout, 1, numbers), PLAIT_ERROR_ARGUMENT, "room for 1");
  CHECK_FAILS(plait_layout_shape(layout, 2, NULL), PLAIT_ERROR_ARGUMENT, "shape is NULL");
  CHECK_FAILS(plait_layout_local_shape(layout, 2, 2, numbers), PLAIT_ERROR_ARGUMENT, "2");
  CHECK_FAILS(plait_layout_padded_shape(layout, -1, 2, numbers), PLAIT_ERROR_ARGUMENT, "-1");
  CHECK_FAILS(plait_layout_indices(layout, 0, 2, 8, numbers), PLAIT_ERROR_ARGUMENT, "dimension 2");
  CHECK_FAILS(plait_layout_indices(layout, 0, 0, 3, numbers), PLAIT_ERROR_ARGUMENT, "room for 3");
  CHECK_FAILS(plait_layout_indices(layout, 2, 0, 8, numbers), PLAIT_ERROR_ARGUMENT, "2");
  CHECK_FAILS(plait_layout_owners(layout, outside, 8, numbers, NULL), PLAIT_ERROR_ARGUMENT, "8");
  CHECK_FAILS(plait_layout_owners(layout, NULL, 8, numbers, NULL), PLAIT_ERROR_ARGUMENT, "index is NULL");
  CHECK_FAILS(plait_layout_to_local(layout, outside, 0, numbers), PLAIT_ERROR_ARGUMENT, "");
  CHECK_FAILS(plait_layout_to_global(layout, outside, 0, numbers), PLAIT_ERROR_ARGUMENT, "");
  CHECK_FAILS(plait_layout_held(layout, NULL, 8, numbers, NULL), PLAIT_ERROR_ARGUMENT, "plait_alone()");
  CHECK_FAILS(plait_layout_held(layout, plait_alone(), 0, numbers, NULL), PLAIT_ERROR_ARGUMENT, "0 bytes");
  CHECK_FAILS(plait_comm_rank(NULL, &one), PLAIT_ERROR_ARGUMENT, "comm is NULL");
  CHECK_FAILS(plait_comm_size(plait_alone(), NULL), PLAIT_ERROR_ARGUMENT, "size is NULL");
  CHECK_OK(plait_layout_free(&layout));
}

/* Counts the elements that one rank sends to another, one by one. */
static int64_t elements_between(const struct oracle* a, int64_t from, const struct oracle* b, int64_t to) {
  int64_t count = 0;
  for (int64_t i = 0; i < a->dimension[0].size; ++i)
    for (int64_t j = 0; j < a->dimension[1].size; ++j)
      count += oracle_owner(a, i, j) == from && oracle_owner(b, i, j) == to;
  return count;
}

void conversion_against_brute_force(void) {
  struct oracle from[80];
  struct oracle to[80];
  const int sources = oracle_examples(9, 7, 4, from, 80);
  const int targets = oracle_examples(9, 7, 6, to, 80);
  for (int s = 0; s < sources; s += 5)
    for (int t = 0; t < targets; t += 3) {
      plait_layout* source = oracle_layout(&from[s]);
      plait_layout* target = oracle_layout(&to[t]);
      plait_conversion* conversion = NULL;
      CHECK_OK(plait_conversion_create(source, target, 0, &conversion));
      CHECK_OK(plait_layout_free(&source));
      CHECK_OK(plait_layout_free(&target));
      for (int64_t rank = 0; rank < 4; ++rank) {
        plait_traffic traffic[6];
        int64_t count = 0;
        int64_t found = 0;
        CHECK_OK(plait_conversion_sends(conversion, rank, 0, NULL, &count));
        CHECK_OK(plait_conversion_sends(conversion, rank, 6, traffic, NULL));
        for (int64_t other = 0; other < 6; ++other) {
          const int64_t expected = elements_between(&from[s], rank, &to[t], other);
          if (expected == 0) continue;
          CHECK(found < count && traffic[found].rank == other && traffic[found].elements == expected);
          CHECK(traffic[found].runs >= 1 && traffic[found].runs <= expected);
          ++found;
        }
        CHECK_EQUAL(found, count);
      }
      plait_traffic received[4];
      int64_t count = 0;
      int64_t sum = 0;
      CHECK_OK(plait_conversion_receives(conversion, 5, 4, received, &count));
      for (int64_t n = 0; n < count; ++n) sum += received[n].elements;
      CHECK_EQUAL(sum, oracle_positions(&to[t], 5, NULL));
      int64_t block = 0;
      char* text = NULL;
      CHECK_OK(plait_conversion_block(conversion, &block));
      CHECK(block >= 1);
      CHECK_OK(plait_conversion_explain(conversion, &text));
      CHECK_CONTAINS(text, "9x7");
      CHECK_OK(plait_text_free(&text));
      CHECK_OK(plait_conversion_free(&conversion));
      CHECK(conversion == NULL);
    }
}

void conversion_errors(void) {
  plait_layout* rows = parse("8x6 (block, *) onto (2)");
  plait_layout* wrong = parse("8x7 (block, *) onto (2)");
  plait_layout* columns = parse("8x6 (*, block) onto (2)");
  plait_conversion* conversion = NULL;
  plait_traffic traffic[2];
  int64_t count = 0;
  CHECK_FAILS(plait_conversion_create(rows, wrong, 0, &conversion), PLAIT_ERROR_ARGUMENT, "8x7");
  CHECK_FAILS(plait_conversion_create(rows, NULL, 0, &conversion), PLAIT_ERROR_ARGUMENT, "target is NULL");
  CHECK_FAILS(plait_conversion_create(NULL, rows, 0, &conversion), PLAIT_ERROR_ARGUMENT, "source is NULL");
  CHECK_FAILS(plait_conversion_create(rows, columns, 0, NULL), PLAIT_ERROR_ARGUMENT, "conversion is NULL");
  CHECK(conversion == NULL);
  CHECK_OK(plait_conversion_create(rows, columns, 0, &conversion));
  CHECK_FAILS(plait_conversion_sends(conversion, 2, 2, traffic, &count), PLAIT_ERROR_ARGUMENT, "2");
  CHECK_FAILS(plait_conversion_sends(conversion, 0, 1, traffic, &count), PLAIT_ERROR_ARGUMENT, "room for 1");
  CHECK_FAILS(plait_conversion_receives(conversion, 0, 0, NULL, NULL), PLAIT_ERROR_ARGUMENT, "count is NULL");
  CHECK_FAILS(plait_conversion_block(NULL, &count), PLAIT_ERROR_ARGUMENT, "conversion is NULL");
  CHECK_FAILS(plait_conversion_explain(conversion, NULL), PLAIT_ERROR_ARGUMENT, "text is NULL");
  CHECK_OK(plait_conversion_free(&conversion));
  CHECK_OK(plait_layout_free(&rows));
  CHECK_OK(plait_layout_free(&columns));
  CHECK_OK(plait_layout_free(&wrong));
}
