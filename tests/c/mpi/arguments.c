/* Invalid arguments, on one rank or on all, drawn from a seed that all ranks share: all ranks get the same status and
 * the same message, and no rank waits forever. */
#include <stdlib.h>
#include <unistd.h>

#include "arguments.h"
#include "cases.h"
#include "check.h"
#include "oracle.h"
#include "together.h"

enum { MESSAGE_BYTES = 2048, ELEMENTS = 60 };

static const int64_t shape[2] = {12, 5};

uint64_t seed;

unsigned draw(unsigned end) {
  seed = seed * 6364136223846793005U + 1442695040888963407U;
  return (unsigned)((seed >> 33U) % end);
}

int64_t wrong_number(unsigned value) {
  static const int64_t all[] = {-2, -8, INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX / 8 + 1, INT64_MAX - 7};
  return all[value % (sizeof all / sizeof *all)];
}
int wrong_int(unsigned value) {
  static const int all[] = {-1, -2, 33, 1000, INT32_MIN, INT32_MAX};
  return all[value % (sizeof all / sizeof *all)];
}
size_t wrong_size(unsigned value) {
  static const size_t all[] = {0, 1, 7, 8, 5000, SIZE_MAX};
  return all[value % (sizeof all / sizeof *all)];
}
const char* wrong_text(unsigned value) {
  static char endless[6000];
  static const char* const all[] = {NULL,     "",           "\xff\xfe",   "x",     "s3://b/a",
                                    "no:way", "\xc3(\x80)", "%s%n%s%n\n", endless, "/none/at/all.npy"};
  memset(endless, 'e', sizeof endless - 1);
  return all[value % (sizeof all / sizeof *all)];
}

/* Returns true if a call has failed.  Checks that its status and message are the same on all ranks. */
static bool fails_on_all_ranks(plait_status status, const char* call, int field) {
  char first_message[MESSAGE_BYTES] = ""; /* of rank 0 */
  char message[MESSAGE_BYTES] = "";
  int first_status = status;
  if (status != PLAIT_OK) snprintf(message, sizeof message, "%s", plait_message(NULL));
  memcpy(first_message, message, sizeof first_message);
  MPI_Bcast(&first_status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(first_message, MESSAGE_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
  const bool is_same = status == first_status && strcmp(first_message, message) == 0;
  const bool is_readable = strstr(message, "std::") == NULL; /* no text of a C++ exception */
  if (!is_same || !is_readable)
    fprintf(stderr, "%s, argument %d: rank %d has %d \"%s\", rank 0 %d \"%s\"\n", call, field, rank, status, message,
            first_status, first_message);
  CHECK(is_same);
  CHECK(is_readable);
  return status != PLAIT_OK;
}

void try_call(const char* name, tested_call call, int fields, int rounds) {
  int errors = 0;
  alarm(SECONDS);
  for (int field = 0; field < fields; ++field) {
    for (int round = 0; round < rounds; ++round) {
      const unsigned value = draw(1000);
      const int victim = (int)draw((unsigned)ranks);
      const bool is_wrong = draw(2) == 0 || rank == victim;
      errors += fails_on_all_ranks(call(is_wrong ? field : -1, value), name, field) ? 1 : 0;
    }
  }
  CHECK(errors >= fields); /* some of the values happen to be valid */
  CHECK(!fails_on_all_ranks(call(-1, 0), name, -1));
  alarm(0);
}

/* In this function and those below, `field` is the number of the wrong argument, and `value` selects its value. */
static plait_status opening(int field, unsigned value) {
  plait_open_options options = double_options(shape);
  plait_file* result = NULL;
  const int64_t wrong_shape[2] = {12, wrong_number(value)};
  if (field == 3) options.size = wrong_size(value);
  if (field == 4) options.shape = NULL;
  if (field == 5) options.shape = wrong_shape;
  if (field == 6) options.dimensions = wrong_int(value);
  if (field == 7) options.dtype = wrong_text(value % 7);
  if (field == 8) options.element_bytes = wrong_number(value);
  if (field == 9) options.order = wrong_text(1 + value % 8);
  if (field == 10) options.offset = wrong_number(value);
  if (field == 11) options.memory = wrong_number(value);
  if (field == 12) options.strategy = wrong_text(2 + value % 7);
  if (field == 13) options.readers = wrong_number(value);
  const plait_status status =
      plait_open(field == 0 ? wrong_text(value) : scratch("arguments.npy"), field == 1 ? wrong_text(value) : "w",
                 everyone, &options, field == 2 ? NULL : &result);
  if (status == PLAIT_OK) CHECK_OK(plait_abandon(&result));
  CHECK(result == NULL);
  return status;
}

void mpi_wrong_opening(void) {
  seed = 1;
  try_call("plait_open", opening, 14, 6);
}

/* The objects of the calls. */
static plait_file* file;
static plait_layout* rows;
static plait_layout* columns;
static plait_layout* large;
static plait_layout* other;
static plait_redistribution* plan;
static plait_stream* stream;
static double source_values[ELEMENTS];
static double target_values[ELEMENTS];

static void prepare(void) {
  char notation[64];
  const plait_open_options options = double_options(shape);
  snprintf(notation, sizeof notation, "12x5 (balanced, *) onto (%d)", ranks);
  CHECK_OK(plait_layout_parse(notation, &rows));
  snprintf(notation, sizeof notation, "12x5 (*, balanced) onto (%d)", ranks);
  CHECK_OK(plait_layout_parse(notation, &columns));
  CHECK_OK(plait_layout_parse("12x5 (cyclic, *) onto (64)", &large));
  CHECK_OK(plait_layout_parse("12x6 (*, *)", &other));
  CHECK_OK(plait_open(scratch("accesses.npy"), "w", everyone, &options, &file));
  CHECK_OK(plait_write(file, rows, source_values, sizeof source_values));
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_open(scratch("accesses.npy"), "r+", everyone, NULL, &file));
}

static void finish(void) {
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&rows));
  CHECK_OK(plait_layout_free(&columns));
  CHECK_OK(plait_layout_free(&large));
  CHECK_OK(plait_layout_free(&other));
}

static plait_layout* wrong_layout(unsigned value) {
  plait_layout* const all[] = {NULL, large, other};
  return all[value % 3];
}

/* The arguments of dense accesses, in the order of `field`: layout, data, bytes, request. */
static plait_status access_dense(int field, unsigned value, bool write, bool start) {
  plait_request* request = NULL;
  plait_request** const result = field == 3 ? NULL : &request;
  plait_layout* const layout = field == 0 ? wrong_layout(value) : rows;
  double* const data = field == 1 ? NULL : source_values;
  const int64_t bytes = field == 2 ? (value % 2 == 0 ? wrong_number(value % 4) : 7) : (int64_t)sizeof source_values;
  if (!start) return write ? plait_write(file, layout, data, bytes) : plait_read(file, layout, data, bytes);
  const plait_status status = write ? plait_start_write(file, layout, data, bytes, result)
                                    : plait_start_read(file, layout, data, bytes, result);
  return status == PLAIT_OK ? plait_request_free(&request) : status;
}
static plait_status reading(int field, unsigned value) {
  return access_dense(field, value, /*write=*/false, /*start=*/false);
}
static plait_status writing(int field, unsigned value) {
  return access_dense(field, value, /*write=*/true, /*start=*/false);
}
static plait_status starting_read(int field, unsigned value) {
  return access_dense(field, value, /*write=*/false, /*start=*/true);
}
static plait_status starting_write(int field, unsigned value) {
  return access_dense(field, value, /*write=*/true, /*start=*/true);
}

/* The arguments of accesses with parts, in the order of `field`: layout, parts, count, data, bytes, strides, size,
 * region, number of slices, start, count and stride of a slice, request. */
static plait_status access_parts(int field, unsigned value, bool write, bool start) {
  const int64_t far_strides[2] = {wrong_number(4 + value % 3), 8};
  plait_slice slices[2] = {{0, 12, 1, 0}, {0, 5, 1, 0}};
  plait_part part = {field == 3 ? NULL : source_values, sizeof source_values, NULL};
  plait_access access = {sizeof access, slices, 2, 0};
  plait_request* request = NULL;
  plait_request** const result = field == 12 ? NULL : &request;
  plait_layout* const layout = field == 0 ? wrong_layout(value) : rows;
  const int64_t count = field == 2 ? (value % 2 == 0 ? wrong_number(value) : 2) : 1;
  if (field == 4) part.bytes = wrong_number(value % 4);
  if (field == 5) part.strides = far_strides;
  if (field == 6) access.size = wrong_size(value);
  if (field == 7) access.region = NULL;
  if (field == 8) access.slices = wrong_int(value);
  if (field == 9) slices[value % 2].start = wrong_number(value);
  if (field == 10) slices[value % 2].count = wrong_number(value);
  if (field == 11) slices[value % 2].stride = wrong_number(value);
  const plait_part* const list = field == 1 ? NULL : &part;
  const plait_const_part source = {part.data, part.bytes, part.strides};
  const plait_const_part* const sources = field == 1 ? NULL : &source;
  if (!start)
    return write ? plait_write_parts(file, layout, sources, count, &access)
                 : plait_read_parts(file, layout, list, count, &access);
  const plait_status status = write ? plait_start_write_parts(file, layout, sources, count, &access, result)
                                    : plait_start_read_parts(file, layout, list, count, &access, result);
  return status == PLAIT_OK ? plait_request_free(&request) : status;
}
static plait_status reading_parts(int field, unsigned value) {
  return access_parts(field, value, /*write=*/false, /*start=*/false);
}
static plait_status writing_parts(int field, unsigned value) {
  return access_parts(field, value, /*write=*/true, /*start=*/false);
}
static plait_status starting_read_parts(int field, unsigned value) {
  return access_parts(field, value, /*write=*/false, /*start=*/true);
}
static plait_status starting_write_parts(int field, unsigned value) {
  return access_parts(field, value, /*write=*/true, /*start=*/true);
}

void mpi_wrong_accesses(void) {
  seed = 2;
  prepare();
  try_call("plait_read", reading, 3, 6);
  try_call("plait_write", writing, 3, 6);
  try_call("plait_start_read", starting_read, 4, 6);
  try_call("plait_start_write", starting_write, 4, 6);
  try_call("plait_read_parts", reading_parts, 12, 4);
  try_call("plait_write_parts", writing_parts, 12, 4);
  try_call("plait_start_read_parts", starting_read_parts, 13, 4);
  try_call("plait_start_write_parts", starting_write_parts, 13, 4);
  finish();
}

static plait_status opening_stream(int field, unsigned value) {
  plait_stream* result = NULL;
  const plait_status status =
      plait_stream_open(file, field == 0 ? wrong_int(value) : PLAIT_STREAM_SAME, field == 1 ? NULL : &result);
  CHECK_OK(plait_stream_close(&result));
  return status;
}
/* The arguments of calls of a stream, in the order of `field`: data, elements, done or request. */
static plait_status stream_read(int field, unsigned value) {
  int64_t done = 0;
  CHECK_OK(plait_stream_seek(stream, 0));
  return plait_stream_read(stream, field == 0 ? NULL : source_values, field == 1 ? wrong_number(value) : 3,
                           field == 2 ? NULL : &done);
}
static plait_status stream_write(int field, unsigned value) {
  CHECK_OK(plait_stream_seek(stream, 0));
  return plait_stream_write(stream, field == 0 ? NULL : source_values, field == 1 ? wrong_number(value) : 3);
}
static plait_status start_stream_access(int field, unsigned value, bool write) {
  plait_request* request = NULL;
  plait_request** const result = field == 2 ? NULL : &request;
  double* const data = field == 0 ? NULL : source_values;
  const int64_t elements = field == 1 ? wrong_number(value) : 3;
  CHECK_OK(plait_stream_seek(stream, 0));
  const plait_status status = write ? plait_stream_start_write(stream, data, elements, result)
                                    : plait_stream_start_read(stream, data, elements, result);
  return status == PLAIT_OK ? plait_request_free(&request) : status;
}
static plait_status stream_start(int field, unsigned value) {
  return start_stream_access(field, value, /*write=*/false);
}
static plait_status stream_start_write(int field, unsigned value) {
  return start_stream_access(field, value, /*write=*/true);
}
static plait_status stream_seek(int field, unsigned value) {
  return plait_stream_seek(stream, field == 0 ? wrong_number(value) : 1);
}

void mpi_wrong_streams(void) {
  seed = 3;
  prepare();
  try_call("plait_stream_open", opening_stream, 2, 8);
  for (int mode = PLAIT_STREAM_ORDERED; mode <= PLAIT_STREAM_SAME; ++mode) {
    CHECK_OK(plait_stream_open(file, mode, &stream));
    try_call("plait_stream_read", stream_read, 3, 6);
    if (mode != PLAIT_STREAM_SAME) try_call("plait_stream_write", stream_write, 2, 8);
    try_call("plait_stream_start_read", stream_start, 3, 6);
    if (mode != PLAIT_STREAM_SAME) try_call("plait_stream_start_write", stream_start_write, 3, 6);
    try_call("plait_stream_seek", stream_seek, 1, 8);
    CHECK_OK(plait_stream_close(&stream));
  }
  finish();
}

/* The options of a redistribution; `field` selects the one that is wrong. */
static plait_redistribute_options moving_options(int field, unsigned value, int64_t* box, int64_t* origin) {
  plait_redistribute_options options;
  memset(&options, 0, sizeof options);
  options.size = field == 8 ? wrong_size(value) : sizeof options;
  if (field == 9) options.memory = wrong_number(value);
  if (field == 10) options.dimensions = wrong_int(value);
  if (field == 11 || field == 12) {
    box[1] = field == 11 ? wrong_number(value) : 2;
    origin[0] = field == 12 ? wrong_number(value) : 0;
    options.dimensions = 2;
    options.section = box;
    options.source_origin = origin;
    options.target_origin = origin;
  }
  return options;
}
static plait_status moving(int field, unsigned value) {
  int64_t box[2] = {2, 2};
  int64_t origin[2] = {0, 0};
  const plait_redistribute_options options = moving_options(field, value, box, origin);
  return plait_redistribute(everyone, field == 0 ? wrong_layout(value) : rows, field == 1 ? NULL : source_values,
                            field == 2 ? 7 : (int64_t)sizeof source_values, field == 3 ? wrong_layout(value) : columns,
                            field == 4   ? NULL
                            : field == 5 ? source_values
                                         : target_values,
                            field == 6 ? wrong_number(value % 4) : (int64_t)sizeof target_values,
                            field == 7 ? wrong_number(value) : 8, &options);
}
static plait_status moving_parts(int field, unsigned value) {
  int64_t box[2] = {2, 2};
  int64_t origin[2] = {0, 0};
  const plait_redistribute_options options = moving_options(field, value, box, origin);
  const plait_const_part from = {field == 5 ? NULL : source_values, field == 2 ? 7 : (int64_t)sizeof source_values,
                                 NULL};
  const plait_part to = {target_values, sizeof target_values, NULL};
  return plait_redistribute_parts(everyone, field == 0 ? wrong_layout(value) : rows, field == 1 ? NULL : &from,
                                  field == 6 ? wrong_number(value) : 1, field == 3 ? wrong_layout(value) : columns,
                                  field == 4 ? NULL : &to, 1, field == 7 ? wrong_number(value) : 8, &options);
}
static plait_status planning(int field, unsigned value) {
  int64_t box[2] = {2, 2};
  int64_t origin[2] = {0, 0};
  plait_redistribution* result = NULL;
  const int option_field = field > 2 ? field + 5 : field; /* the options have the numbers 8 to 12 above */
  const plait_redistribute_options options = moving_options(option_field, value, box, origin);
  const plait_status status =
      plait_redistribution_create(everyone, field == 0 ? wrong_layout(value) : rows, columns,
                                  field == 1 ? wrong_number(value) : 8, &options, field == 2 ? NULL : &result);
  CHECK_OK(plait_redistribution_free(&result));
  return status;
}
/* The arguments of calls of a plan, in the order of `field`: from, its bytes or count, to, its bytes or count,
 * request. */
static plait_status planned(int field, unsigned value) {
  return plait_redistribution_run(plan, field == 0 ? NULL : source_values,
                                  field == 1 ? 7 : (int64_t)sizeof source_values,
                                  field == 2   ? NULL
                                  : field == 3 ? source_values
                                               : target_values,
                                  field == 4 ? wrong_number(value % 4) : (int64_t)sizeof target_values);
}
static plait_status started(int field, unsigned value) {
  plait_request* request = NULL;
  const plait_status status = plait_redistribution_start(
      plan, field == 0 ? NULL : source_values, field == 1 ? 7 : (int64_t)sizeof source_values,
      field == 2 ? NULL : target_values, field == 3 ? wrong_number(value % 4) : (int64_t)sizeof target_values,
      field == 4 ? NULL : &request);
  return status == PLAIT_OK ? plait_request_free(&request) : status;
}
static plait_status run_plan_with_parts(int field, unsigned value, bool start) {
  const plait_const_part from = {source_values, sizeof source_values, NULL};
  const plait_part to = {target_values, sizeof target_values, NULL};
  const plait_const_part* const source = field == 0 ? NULL : &from;
  const plait_part* const target = field == 2 ? NULL : &to;
  const int64_t count = field == 1 ? wrong_number(value) : 1;
  const int64_t count_to = field == 3 ? 2 : 1;
  plait_request* request = NULL;
  if (!start) return plait_redistribution_run_parts(plan, source, count, target, count_to);
  const plait_status status =
      plait_redistribution_start_parts(plan, source, count, target, count_to, field == 4 ? NULL : &request);
  return status == PLAIT_OK ? plait_request_free(&request) : status;
}
static plait_status planned_parts(int field, unsigned value) {
  return run_plan_with_parts(field, value, /*start=*/false);
}
static plait_status started_parts(int field, unsigned value) {
  return run_plan_with_parts(field, value, /*start=*/true);
}
static plait_status sharing(int field, unsigned value) {
  plait_shared* result = NULL;
  const plait_status status = plait_empty(everyone, field == 0 ? wrong_layout(value) : rows,
                                          field == 1 ? wrong_number(value) : 8, field == 2 ? NULL : &result);
  CHECK_OK(plait_shared_free(&result));
  return status;
}
static plait_status sharing_bytes(int field, unsigned value) {
  plait_shared* result = NULL;
  const plait_status status =
      plait_empty_bytes(everyone, field == 0 ? wrong_number(value % 4) : 100, field == 1 ? NULL : &result);
  CHECK_OK(plait_shared_free(&result));
  return status;
}

void mpi_wrong_redistributions(void) {
  seed = 4;
  prepare();
  try_call("plait_redistribute", moving, 13, 5);
  try_call("plait_redistribute_parts", moving_parts, 13, 5);
  try_call("plait_redistribution_create", planning, 8, 5);
  CHECK_OK(plait_redistribution_create(everyone, rows, columns, 8, NULL, &plan));
  try_call("plait_redistribution_run", planned, 5, 5);
  try_call("plait_redistribution_run_parts", planned_parts, 4, 5);
  try_call("plait_redistribution_start", started, 5, 5);
  try_call("plait_redistribution_start_parts", started_parts, 5, 5);
  CHECK_OK(plait_redistribution_free(&plan));
  try_call("plait_empty", sharing, 3, 5);
  try_call("plait_empty_bytes", sharing_bytes, 2, 5);
  finish();
}
