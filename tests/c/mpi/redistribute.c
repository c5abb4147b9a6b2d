/* Redistributions between several ranks, with private and shared arrays, and mistakes of one rank. */
#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "oracle.h"
#include "together.h"

void mpi_redistribute_every_layout(void) {
  struct oracle from[80];
  struct oracle to[80];
  const int sources = oracle_examples(9, 7, ranks, from, 80);
  const int targets = oracle_examples(9, 7, ranks, to, 80);
  for (int s = 0; s < sources; s += 2)
    for (int t = s % 3; t < targets; t += 3) {
      plait_layout* source = oracle_layout(&from[s]);
      plait_layout* target = oracle_layout(&to[t]);
      int64_t count = 0;
      const int64_t owned = oracle_positions(&to[t], rank, NULL);
      double* values = oracle_local_arrays(&from[s], rank, rank, &count);
      double* moved = allocate((size_t)owned * 8);
      CHECK_OK(plait_redistribute(everyone, source, values, count * 8, target, moved, owned * 8, 8, NULL));
      CHECK_EQUAL(oracle_count_differences(&to[t], rank, rank, moved), 0);
      CHECK_OK(plait_layout_free(&source));
      CHECK_OK(plait_layout_free(&target));
      free(values);
      free(moved);
    }
}

void mpi_redistribute_plan(void) {
  const struct oracle rows = {{{BLOCK, 0, 13, ranks}, {WHOLE, 0, 10, 1}}, 0};
  const struct oracle columns = {{{WHOLE, 0, 13, 1}, {CYCLIC, 3, 10, ranks}}, 1};
  plait_layout* source = oracle_layout(&rows);
  plait_layout* target = oracle_layout(&columns);
  plait_redistribution* plan = NULL;
  plait_shared* from_memory = NULL;
  plait_shared* to_memory = NULL;
  plait_request* request = NULL;
  void* from = NULL;
  void* to = NULL;
  int64_t from_bytes = 0;
  int64_t to_bytes = 0;
  int64_t count = 0;
  char* text = NULL;
  double* values = oracle_local_arrays(&rows, rank, rank, &count);
  CHECK_OK(plait_empty(everyone, source, 8, &from_memory));
  CHECK_OK(plait_empty(everyone, target, 8, &to_memory));
  CHECK_OK(plait_shared_memory(from_memory, &from, &from_bytes));
  CHECK_OK(plait_shared_memory(to_memory, &to, &to_bytes));
  CHECK(from_bytes >= count * 8);
  if (count > 0) memcpy(from, values, (size_t)count * 8);
  CHECK_OK(plait_redistribution_create(everyone, source, target, 8, NULL, &plan));
  CHECK_OK(plait_redistribution_run(plan, from, from_bytes, to, to_bytes));
  CHECK_EQUAL(oracle_count_differences(&columns, rank, rank, to), 0);
  if (to_bytes > 0) memset(to, 0, (size_t)oracle_positions(&columns, rank, NULL) * 8);
  CHECK_OK(plait_redistribution_start(plan, values, count * 8, to, to_bytes, &request));
  CHECK_OK(plait_request_wait(request));
  CHECK_EQUAL(oracle_count_differences(&columns, rank, rank, to), 0);
  CHECK_OK(plait_request_free(&request));
  CHECK_OK(plait_redistribution_explain(plan, &text));
  CHECK_CONTAINS(text, "13x10");
  CHECK_OK(plait_text_free(&text));
  CHECK_OK(plait_redistribution_free(&plan));
  CHECK_OK(plait_shared_free(&from_memory));
  CHECK_OK(plait_shared_free(&to_memory));
  CHECK_OK(plait_layout_free(&source));
  CHECK_OK(plait_layout_free(&target));
  free(values);
}

void mpi_redistribute_mistakes(void) {
  const struct oracle rows = {{{BLOCK, 0, 12, ranks}, {WHOLE, 0, 5, 1}}, 0};
  const bool is_wrong = rank == ranks - 1; /* the rank that makes the mistakes */
  plait_layout* layout = oracle_layout(&rows);
  plait_redistribution* plan = NULL;
  plait_shared* shared = NULL;
  int64_t count = 0;
  double* values = oracle_local_arrays(&rows, rank, rank, &count);
  double* moved = allocate((size_t)count * 8 + 8);
  const int64_t bytes = count * 8;
  plait_redistribute_options options;
  memset(&options, 0, sizeof options);
  options.size = is_wrong ? 3 : sizeof options;
  ALL_FAIL(plait_redistribute(everyone, layout, values, is_wrong ? 1 : bytes, layout, moved, bytes, 8, NULL),
           PLAIT_ERROR_ARGUMENT, "1 bytes");
  ALL_FAIL(plait_redistribute(everyone, layout, values, bytes, layout, is_wrong ? NULL : moved, bytes, 8, NULL),
           PLAIT_ERROR_ARGUMENT, "to is NULL");
  ALL_FAIL(plait_redistribute(everyone, is_wrong ? NULL : layout, values, bytes, layout, moved, bytes, 8, NULL),
           PLAIT_ERROR_ARGUMENT, "source is NULL");
  ALL_FAIL(plait_redistribute(everyone, layout, values, bytes, layout, moved, bytes, 8, &options), PLAIT_ERROR_ARGUMENT,
           "sizeof(plait_redistribute_options)");
  ALL_FAIL(plait_redistribution_create(everyone, layout, is_wrong ? NULL : layout, 8, NULL, &plan),
           PLAIT_ERROR_ARGUMENT, "target is NULL");
  ALL_FAIL(plait_redistribution_create(everyone, layout, layout, 8, NULL, is_wrong ? NULL : &plan),
           PLAIT_ERROR_ARGUMENT, "plan is NULL");
  CHECK(plan == NULL);
  ALL_FAIL(plait_empty(everyone, is_wrong ? NULL : layout, 8, &shared), PLAIT_ERROR_ARGUMENT, "layout is NULL");
  ALL_FAIL(plait_empty_bytes(everyone, is_wrong ? -1 : 100, &shared), PLAIT_ERROR_ARGUMENT, "-1 bytes");
  const plait_status too_much = plait_empty_bytes(everyone, is_wrong ? INT64_MAX : 100, &shared);
  CHECK(too_much == PLAIT_ERROR_MEMORY || too_much == PLAIT_ERROR_SYSTEM); /* /dev/shm may be what is too small */
  ALL_FAIL(too_much, too_much, "free memory");
  CHECK(shared == NULL);
  CHECK_OK(plait_redistribution_create(everyone, layout, layout, 8, NULL, &plan));
  ALL_FAIL(plait_redistribution_run(plan, values, is_wrong ? 2 : bytes, moved, bytes), PLAIT_ERROR_ARGUMENT, "2 bytes");
  ALL_FAIL(is_wrong ? plait_redistribution_fail(plan, "not like this")
                    : plait_redistribution_run(plan, values, bytes, moved, bytes),
           PLAIT_ERROR_ARGUMENT, "not like this");
  CHECK_OK(plait_redistribution_run(plan, values, bytes, moved, bytes));
  CHECK_EQUAL(oracle_count_differences(&rows, rank, rank, moved), 0);
  CHECK_OK(plait_redistribution_free(&plan));
  CHECK_OK(plait_layout_free(&layout));
  free(values);
  free(moved);
}
