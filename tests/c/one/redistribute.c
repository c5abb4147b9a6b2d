/* Redistributions in one process that has the arrays of all ranks, and memory for shared arrays. */
#include <errno.h>
#include <plait.h>
#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "oracle.h"

void redistribute_every_layout(void) {
  struct oracle from[80];
  struct oracle to[80];
  const int sources = oracle_examples(7, 5, 4, from, 80);
  const int targets = oracle_examples(7, 5, 6, to, 80);
  for (int s = 0; s < sources; s += 2)
    for (int t = s % 2; t < targets; t += 2) {
      plait_layout* source = oracle_layout(&from[s]);
      plait_layout* target = oracle_layout(&to[t]);
      double* values = oracle_local_arrays(&from[s], 0, 3, NULL);
      double moved[35] = {0};
      CHECK_OK(plait_redistribute(plait_alone(), source, values, 280, target, moved, sizeof moved, 8, NULL));
      CHECK_EQUAL(oracle_count_differences(&to[t], 0, 5, moved), 0);
      CHECK_OK(plait_layout_free(&source));
      CHECK_OK(plait_layout_free(&target));
      free(values);
    }
}

void redistribute_parts(void) {
  plait_layout* source = NULL;
  plait_layout* target = NULL;
  /* Every second element of a larger array is copied to another array in reverse order. */
  int32_t wide[12];
  int32_t back[6] = {0};
  const int64_t every_second = 8;
  const int64_t reverse = -4;
  for (int32_t i = 0; i < 12; ++i) wide[i] = i;
  const plait_const_part from = {wide, sizeof wide, &every_second};
  const plait_part to = {back + 5, 4, &reverse};
  CHECK_OK(plait_layout_parse("6 (*)", &source));
  CHECK_OK(plait_layout_parse("6 (block) onto (1)", &target));
  CHECK_OK(plait_redistribute_parts(plait_alone(), source, &from, 1, target, &to, 1, 4, NULL));
  for (int i = 0; i < 6; ++i) CHECK_EQUAL(back[5 - i], 2 * i);
  CHECK_OK(plait_layout_free(&source));
  CHECK_OK(plait_layout_free(&target));
}

void redistribute_section_and_halo(void) {
  plait_layout* source = NULL;
  plait_layout* target = NULL;
  int64_t from[10];
  int64_t to[2][4];
  const int64_t box = 3;
  const int64_t source_origin = 5;
  const int64_t target_origin = 1;
  plait_redistribute_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.memory = 1 << 20;
  options.element_name = "<i8";
  for (int64_t i = 0; i < 10; ++i) from[i] = 100 + i;
  for (int n = 0; n < 8; ++n) to[n / 4][n % 4] = -1;
  CHECK_OK(plait_layout_parse("10 (cyclic) onto (1)", &source));
  CHECK_OK(plait_layout_parse("4 (block) onto (2) halo=(1)", &target));
  /* Elements 5 to 7 become 1 to 3; halos stay as they are. */
  options.dimensions = 1;
  options.section = &box;
  options.source_origin = &source_origin;
  options.target_origin = &target_origin;
  CHECK_OK(plait_redistribute(plait_alone(), source, from, sizeof from, target, to, sizeof to, 8, &options));
  const int64_t expected[8] = {-1, -1, 105, -1, -1, 106, 107, -1};
  for (int n = 0; n < 8; ++n) CHECK_EQUAL(to[n / 4][n % 4], expected[n]);
  /* With `fill_halo`, halos of whole arrays are filled too. */
  plait_layout* whole = NULL;
  CHECK_OK(plait_layout_parse("4 (*)", &whole));
  plait_redistribute_options filling;
  memset(&filling, 0, sizeof filling);
  filling.size = sizeof filling;
  filling.fill_halo = 1;
  CHECK_OK(plait_redistribute(plait_alone(), whole, from, sizeof from, target, to, sizeof to, 8, &filling));
  const int64_t filled[8] = {-1, 100, 101, 102, 101, 102, 103, -1};
  for (int n = 0; n < 8; ++n) CHECK_EQUAL(to[n / 4][n % 4], filled[n]);
  CHECK_OK(plait_layout_free(&whole));
  /* An element that is filled may not be read as well, or filled twice.  Outside of the section, arrays may overlap. */
  CHECK_FAILS(plait_redistribute(plait_alone(), source, from, sizeof from, target, &from[1], sizeof to, 8, &options),
              PLAIT_ERROR_ARGUMENT, "shares memory with the source array of rank 0");
  const int64_t stride = 8;
  const plait_const_part whole_from = {from, sizeof from, NULL};
  const plait_part twice[2] = {{to[0], 32, &stride}, {to[0], 32, &stride}};
  CHECK_FAILS(plait_redistribute_parts(plait_alone(), source, &whole_from, 1, target, twice, 2, 8, &options),
              PLAIT_ERROR_ARGUMENT, "the arrays of ranks 0 and 1 that are to be filled share memory");
  const int64_t none = 0;
  const plait_part one_element[2] = {{to[0], 32, &stride}, {to[1], 32, &none}};
  CHECK_FAILS(plait_redistribute_parts(plait_alone(), source, &whole_from, 1, target, one_element, 2, 8, &options),
              PLAIT_ERROR_ARGUMENT, "has elements that share memory");
  options.target_origin = &none;
  CHECK_OK(plait_redistribute(plait_alone(), source, from, sizeof from, source, from, sizeof from, 8, &options));
  for (int64_t i = 0; i < 10; ++i) CHECK_EQUAL(from[i], i < 3 ? 105 + i : 100 + i);
  options.target_origin = &target_origin;
  options.source_origin = NULL;
  CHECK_FAILS(plait_redistribute(plait_alone(), source, from, sizeof from, target, to, sizeof to, 8, &options),
              PLAIT_ERROR_ARGUMENT, "source_origin is NULL");
  options.section = NULL;
  CHECK_FAILS(plait_redistribute(plait_alone(), source, from, sizeof from, target, to, sizeof to, 8, &options),
              PLAIT_ERROR_ARGUMENT, "section is NULL");
  CHECK_OK(plait_layout_free(&source));
  CHECK_OK(plait_layout_free(&target));
}

void redistribute_plan(void) {
  const struct oracle rows = {{{BLOCK, 0, 9, 2}, {WHOLE, 0, 7, 1}}, 0};
  const struct oracle tiles = {{{CYCLIC, 2, 9, 2}, {CYCLIC, 3, 7, 2}}, 1};
  plait_layout* source = oracle_layout(&rows);
  plait_layout* target = oracle_layout(&tiles);
  double* values = oracle_local_arrays(&rows, 0, 1, NULL);
  double* moved = allocate(63 * sizeof *moved);
  plait_redistribution* plan = NULL;
  plait_request* request = NULL;
  char* text = NULL;
  CHECK_OK(plait_redistribution_create(plait_alone(), source, target, 8, NULL, &plan));
  for (int round = 0; round < 2; ++round) {
    memset(moved, 0, 63 * sizeof *moved);
    CHECK_OK(plait_redistribution_run(plan, values, 63 * 8, moved, 63 * 8));
    CHECK_EQUAL(oracle_count_differences(&tiles, 0, 3, moved), 0);
  }
  memset(moved, 0, 63 * sizeof *moved);
  CHECK_OK(plait_redistribution_start(plan, values, 63 * 8, moved, 63 * 8, &request));
  CHECK_OK(plait_request_wait(request));
  CHECK_EQUAL(oracle_count_differences(&tiles, 0, 3, moved), 0);
  CHECK_OK(plait_request_free(&request));

  plait_part to[4];
  const plait_const_part from[2] = {{values, 35 * 8, NULL}, {values + 35, 28 * 8, NULL}};
  int64_t first = 0;
  for (int64_t rank = 0; rank < 4; ++rank) {
    const int64_t count = oracle_positions(&tiles, rank, NULL);
    to[rank] = (plait_part){moved + first, count * 8, NULL};
    first += count;
  }
  memset(moved, 0, 63 * sizeof *moved);
  CHECK_OK(plait_redistribution_run_parts(plan, from, 2, to, 4));
  CHECK_EQUAL(oracle_count_differences(&tiles, 0, 3, moved), 0);
  memset(moved, 0, 63 * sizeof *moved);
  CHECK_OK(plait_redistribution_start_parts(plan, from, 2, to, 4, &request));
  CHECK_OK(plait_redistribution_explain(plan, &text));
  CHECK_CONTAINS(text, "9x7");
  CHECK_OK(plait_text_free(&text));
  CHECK_FAILS(plait_redistribution_run(plan, values, 62 * 8, moved, 63 * 8), PLAIT_ERROR_ARGUMENT, "496 bytes");
  CHECK_FAILS(plait_redistribution_run_parts(plan, from, 2, to, 3), PLAIT_ERROR_ARGUMENT, "3 local arrays");
  CHECK_FAILS(plait_redistribution_run(NULL, values, 504, moved, 504), PLAIT_ERROR_ARGUMENT, "plan is NULL");
  CHECK_FAILS(plait_redistribution_start(plan, values, 504, moved, 504, NULL), PLAIT_ERROR_ARGUMENT, "request is NULL");
  CHECK_FAILS(plait_redistribution_fail(plan, "not now"), PLAIT_ERROR_ARGUMENT, "not now");
  CHECK_CONTAINS(plait_message(plan), "not now");
  CHECK_OK(plait_redistribution_free(&plan)); /* waits for started calls */
  CHECK(plan == NULL);
  CHECK_EQUAL(oracle_count_differences(&tiles, 0, 3, moved), 0);
  CHECK_OK(plait_request_free(&request));
  CHECK_OK(plait_redistribution_free(&plan));
  CHECK_OK(plait_layout_free(&source));
  CHECK_OK(plait_layout_free(&target));
  free(values);
  free(moved);
}

void redistribute_errors(void) {
  plait_layout* source = NULL;
  plait_layout* wrong = NULL;
  plait_redistribution* plan = NULL;
  const plait_comm* alone = plait_alone();
  int from[6] = {0};
  int to[6];
  const plait_const_part part = {from, sizeof from, NULL};
  plait_redistribute_options options;
  memset(&options, 0, sizeof options);
  CHECK_OK(plait_layout_parse("6 (*)", &source));
  CHECK_OK(plait_layout_parse("7 (*)", &wrong));
  CHECK_FAILS(plait_redistribute(NULL, source, from, 24, source, to, 24, 4, NULL), PLAIT_ERROR_ARGUMENT, "comm");
  CHECK_FAILS(plait_redistribute(alone, NULL, from, 24, source, to, 24, 4, NULL), PLAIT_ERROR_ARGUMENT, "source is");
  CHECK_FAILS(plait_redistribute(alone, source, from, 24, NULL, to, 24, 4, NULL), PLAIT_ERROR_ARGUMENT, "target is");
  CHECK_FAILS(plait_redistribute(alone, source, NULL, 24, source, to, 24, 4, NULL), PLAIT_ERROR_ARGUMENT, "from is");
  CHECK_FAILS(plait_redistribute(alone, source, from, 24, source, to, 23, 4, NULL), PLAIT_ERROR_ARGUMENT, "23 bytes");
  CHECK_FAILS(plait_redistribute(alone, source, from, 24, source, to, 24, 0, NULL), PLAIT_ERROR_ARGUMENT, "0 bytes");
  CHECK_FAILS(plait_redistribute(alone, source, from, 24, wrong, to, PLAIT_UNKNOWN, 4, NULL), PLAIT_ERROR_ARGUMENT,
              "7");
  CHECK_FAILS(plait_redistribute(alone, source, from, 24, source, to, 24, 4, &options), PLAIT_ERROR_ARGUMENT,
              "sizeof(plait_redistribute_options)");
  CHECK_FAILS(plait_redistribute_parts(alone, source, &part, 1, source, NULL, 1, 4, NULL), PLAIT_ERROR_ARGUMENT,
              "to is NULL");
  options.size = sizeof options;
  options.memory = -5;
  CHECK_FAILS(plait_redistribution_create(alone, source, source, 4, &options, &plan), PLAIT_ERROR_ARGUMENT, "-5");
  CHECK_FAILS(plait_redistribution_create(alone, source, wrong, 4, NULL, &plan), PLAIT_ERROR_ARGUMENT, "7");
  CHECK_FAILS(plait_redistribution_create(alone, source, source, 4, NULL, NULL), PLAIT_ERROR_ARGUMENT, "plan is");
  CHECK_FAILS(plait_redistribution_create(NULL, source, source, 4, NULL, &plan), PLAIT_ERROR_ARGUMENT, "comm is");
  CHECK(plan == NULL);
  CHECK_OK(plait_layout_free(&source));
  CHECK_OK(plait_layout_free(&wrong));
}

void shared_memory(void) {
  plait_layout* layout = NULL;
  plait_shared* shared = NULL;
  void* data = NULL;
  int64_t bytes = 0;
  CHECK_OK(plait_layout_parse("6x5 (block, *) onto (3)", &layout));
  CHECK_OK(plait_empty(plait_alone(), layout, 8, &shared));
  CHECK_OK(plait_shared_memory(shared, &data, &bytes));
  CHECK(data != NULL && bytes >= 240);
  for (int n = 0; n < 240; ++n) CHECK(((const char*)data)[n] == 0);
  CHECK_OK(plait_shared_memory(shared, NULL, NULL));
  CHECK_OK(plait_shared_free(&shared));
  CHECK(shared == NULL);
  CHECK_OK(plait_shared_free(&shared));
  CHECK_OK(plait_empty_bytes(plait_alone(), 100, &shared));
  CHECK_OK(plait_shared_memory(shared, &data, &bytes));
  CHECK(data != NULL && bytes >= 100);
  CHECK_OK(plait_shared_free(&shared));
  CHECK_FAILS(plait_empty_bytes(plait_alone(), -1, &shared), PLAIT_ERROR_ARGUMENT, "-1 bytes");
  CHECK_FAILS(plait_empty_bytes(plait_alone(), (int64_t)1 << 60, &shared), PLAIT_ERROR_MEMORY, "no memory");
  CHECK_EQUAL(plait_system_code(NULL), ENOMEM);
  CHECK_FAILS(plait_empty(plait_alone(), layout, 0, &shared), PLAIT_ERROR_ARGUMENT, "0 bytes");
  CHECK_FAILS(plait_empty(plait_alone(), NULL, 8, &shared), PLAIT_ERROR_ARGUMENT, "layout is NULL");
  CHECK_FAILS(plait_empty(plait_alone(), layout, 8, NULL), PLAIT_ERROR_ARGUMENT, "shared is NULL");
  CHECK_FAILS(plait_shared_memory(NULL, &data, &bytes), PLAIT_ERROR_ARGUMENT, "shared is NULL");
  CHECK_OK(plait_layout_free(&layout));
}
