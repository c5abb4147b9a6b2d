/* Mistakes of one rank in collective calls: all ranks get the same error, and later calls succeed. */
#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "oracle.h"
#include "together.h"

/* Returns true on the rank that makes the mistakes. */
static bool is_wrong(void) { return rank == ranks / 2; }

static const int64_t shape[2] = {12, 5};

void mpi_open_mistakes(void) {
  plait_file* file = NULL;
  plait_open_options options = double_options(shape);
  ALL_FAIL(plait_open(scratch("missing.npy"), "r", everyone, NULL, &file), PLAIT_ERROR_SYSTEM, "missing.npy");
  CHECK(file == NULL && plait_system_code(NULL) == 2);
  ALL_FAIL(plait_open(is_wrong() ? NULL : scratch("a.npy"), "w", everyone, &options, &file), PLAIT_ERROR_ARGUMENT,
           "url is NULL");
  ALL_FAIL(plait_open(scratch("a.npy"), is_wrong() ? "x" : "w", everyone, &options, &file), PLAIT_ERROR_ARGUMENT,
           "\"x\"");
  ALL_FAIL(plait_open(scratch("a.npy"), "w", everyone, &options, is_wrong() ? NULL : &file), PLAIT_ERROR_ARGUMENT,
           "file is NULL");
  if (ranks > 1)
    ALL_FAIL(plait_open(scratch("a.npy"), is_wrong() ? "r" : "w", everyone, &options, &file), PLAIT_ERROR_ARGUMENT,
             "differ");
  if (is_wrong()) options.size = 8;
  ALL_FAIL(plait_open(scratch("a.npy"), "w", everyone, &options, &file), PLAIT_ERROR_ARGUMENT,
           "sizeof(plait_open_options)");
  options = double_options(shape);
  if (is_wrong()) options.dimensions = 40;
  ALL_FAIL(plait_open(scratch("a.npy"), "w", everyone, &options, &file), PLAIT_ERROR_ARGUMENT, "40 dimensions");
  options = double_options(shape);
  if (is_wrong()) options.order = "?";
  ALL_FAIL(plait_open(scratch("a.npy"), "w", everyone, &options, &file), PLAIT_ERROR_ARGUMENT, "\"?\"");
  CHECK(file == NULL);
}

void mpi_access_mistakes(void) {
  const plait_open_options options = double_options(shape);
  const struct oracle rows = {{{BLOCK, 0, 12, ranks}, {WHOLE, 0, 5, 1}}, 0};
  plait_layout* layout = oracle_layout(&rows);
  plait_layout* large = NULL;
  plait_layout* other = NULL;
  plait_file* file = NULL;
  plait_request* request = NULL;
  int64_t count = 0;
  double* values = oracle_local_arrays(&rows, rank, rank, &count);
  const int64_t bytes = count * 8;
  double* read_values = allocate((size_t)bytes);
  const plait_const_part part = {values, is_wrong() ? bytes - 1 : bytes, NULL};
  const plait_slice outside[2] = {{0, 12, 1, 0}, {0, is_wrong() ? 6 : 5, 1, 0}};
  plait_access access = {sizeof access, outside, 2, 0};
  char text[64];
  snprintf(text, sizeof text, "12x5 (cyclic, *) onto (%d)", ranks + 1);
  CHECK_OK(plait_layout_parse(text, &large));
  CHECK_OK(plait_layout_parse("12x6 (*, *)", &other));
  CHECK_OK(plait_open(scratch("access.npy"), "w", everyone, &options, &file));
  ALL_FAIL(plait_write(file, is_wrong() ? NULL : layout, values, bytes), PLAIT_ERROR_ARGUMENT, "layout is NULL");
  ALL_FAIL(plait_write(file, layout, is_wrong() ? NULL : values, bytes), PLAIT_ERROR_ARGUMENT, "data is NULL");
  ALL_FAIL(plait_write(file, layout, values, is_wrong() ? 7 : bytes), PLAIT_ERROR_ARGUMENT, "7 bytes");
  ALL_FAIL(plait_write(file, is_wrong() ? large : layout, values, bytes), PLAIT_ERROR_ARGUMENT, "the communicator has");
  ALL_FAIL(plait_write(file, large, values, bytes), PLAIT_ERROR_ARGUMENT, "the communicator has");
  if (ranks > 1)
    ALL_FAIL(plait_write(file, is_wrong() ? other : layout, values, PLAIT_UNKNOWN), PLAIT_ERROR_ARGUMENT, "12x6");
  ALL_FAIL(plait_write_parts(file, layout, &part, 1, NULL), PLAIT_ERROR_ARGUMENT, "make it larger");
  ALL_FAIL(plait_write_parts(file, layout, &part, is_wrong() ? 0 : 1, NULL), PLAIT_ERROR_ARGUMENT, "");
  ALL_FAIL(plait_read_parts(file, layout, &(plait_part){read_values, bytes, NULL}, 1, &access), PLAIT_ERROR_ARGUMENT,
           "dimension 1");
  access.size = is_wrong() ? 0 : sizeof access;
  ALL_FAIL(plait_read_parts(file, layout, &(plait_part){read_values, bytes, NULL}, 1, &access), PLAIT_ERROR_ARGUMENT,
           "sizeof(plait_access)");
  plait_status status = plait_start_write(file, layout, values, bytes, is_wrong() ? NULL : &request);
  if (!is_wrong()) status = plait_request_free(&request);
  ALL_FAIL(status, PLAIT_ERROR_ARGUMENT, "request is NULL");
  if (ranks > 1)
    ALL_FAIL(is_wrong() ? plait_read(file, layout, read_values, bytes) : plait_write(file, layout, values, bytes),
             PLAIT_ERROR_ARGUMENT, "differ");
  CHECK_OK(plait_write(file, layout, values, bytes)); /* succeeds after all those errors */
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_open(scratch("access.npy"), "r", everyone, NULL, &file));
  ALL_FAIL(plait_write(file, layout, values, bytes), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK_OK(plait_read(file, layout, read_values, bytes));
  CHECK_EQUAL(oracle_count_differences(&rows, rank, rank, read_values), 0);
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&layout));
  CHECK_OK(plait_layout_free(&large));
  CHECK_OK(plait_layout_free(&other));
  free(values);
  free(read_values);
}

void mpi_fail_functions(void) {
  const plait_open_options options = double_options(shape);
  const struct oracle rows = {{{BLOCK, 0, 12, ranks}, {WHOLE, 0, 5, 1}}, 0};
  plait_layout* layout = oracle_layout(&rows);
  plait_file* file = NULL;
  plait_shared* shared = NULL;
  int64_t count = 0;
  double* values = oracle_local_arrays(&rows, rank, rank, &count);
  double* moved = allocate((size_t)count * 8);
  ALL_FAIL(is_wrong() ? plait_comm_fail(everyone, "no file today")
                      : plait_open(scratch("r.npy"), "w", everyone, &options, &file),
           PLAIT_ERROR_ARGUMENT, "no file today");
  ALL_FAIL(is_wrong() ? plait_comm_fail(everyone, "no memory today") : plait_empty_bytes(everyone, 10, &shared),
           PLAIT_ERROR_ARGUMENT, "no memory today");
  ALL_FAIL(is_wrong() ? plait_comm_fail(everyone, "no move today")
                      : plait_redistribute(everyone, layout, values, count * 8, layout, moved, count * 8, 8, NULL),
           PLAIT_ERROR_ARGUMENT, "no move today");
  CHECK(file == NULL && shared == NULL);
  CHECK_OK(plait_open(scratch("r.npy"), "w", everyone, &options, &file));
  ALL_FAIL(is_wrong() ? plait_file_fail(file, "no data today") : plait_write(file, layout, values, count * 8),
           PLAIT_ERROR_ARGUMENT, "no data today");
  CHECK_CONTAINS(plait_message(file), "no data today");
  ALL_FAIL(is_wrong() ? plait_file_fail(file, "not yet") : plait_close(&file), PLAIT_ERROR_ARGUMENT, "not yet");
  CHECK(file != NULL);
  CHECK_OK(plait_write(file, layout, values, count * 8));
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&layout));
  free(moved);
  free(values);
}

void mpi_abandoned(void) {
  const plait_open_options options = double_options(shape);
  const struct oracle rows = {{{BLOCK, 0, 12, ranks}, {WHOLE, 0, 5, 1}}, 0};
  plait_layout* layout = oracle_layout(&rows);
  plait_file* file = NULL;
  int64_t count = 0;
  double* values = oracle_local_arrays(&rows, rank, rank, &count);
  CHECK_OK(plait_open(scratch("abandoned.npy"), "w", everyone, &options, &file));
  CHECK_OK(plait_abandon(&file));
  CHECK(file == NULL);
  /* Some ranks abandon the file: the next call of the others fails, and they abandon it too. */
  CHECK_OK(plait_open(scratch("abandoned.npy"), "w", everyone, &options, &file));
  if (is_wrong()) {
    CHECK_OK(plait_abandon(&file));
  } else {
    CHECK_FAILS(plait_write(file, layout, values, count * 8), PLAIT_ERROR_SYSTEM, "abandoned");
    CHECK_FAILS(plait_close(&file), PLAIT_ERROR_SYSTEM, "plait_abandon");
    CHECK(file != NULL);
    CHECK_OK(plait_abandon(&file));
  }
  CHECK(file == NULL);
  ALL_FAIL(plait_open(scratch("abandoned.npy"), "r", everyone, NULL, &file), PLAIT_ERROR_SYSTEM, "abandoned.npy");
  CHECK_OK(plait_layout_free(&layout));
  free(values);
}
