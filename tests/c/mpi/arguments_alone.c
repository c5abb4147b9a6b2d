/* Wrong arguments of calls that are not collective: such a call fails with a message, and waits for no other rank. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <plait/steps.h>
#include <stdlib.h>
#include <unistd.h>

#include "arguments.h"
#include "cases.h"
#include "check.h"
#include "together.h"

enum { MAX_SECONDS = 5, CAPACITY = 128, ROUNDS = 5 }; /* a call that waits for another rank takes longer */

static const int64_t shape[2] = {12, 5};
static plait_layout* layout;
static plait_layout* other;
static plait_conversion* conversion;
static plait_file* file;
static int64_t numbers[CAPACITY];
static int64_t count;
static int flag;

/* Returns true if a call has failed.  Checks that there is a message then. */
static bool fails_with_message(plait_status status, const char* name, int field) {
  const char* message = status == PLAIT_OK ? "" : plait_message(NULL);
  const bool is_readable = status == PLAIT_OK || (message[0] != '\0' && strstr(message, "std::") == NULL);
  if (!is_readable) fprintf(stderr, "%s, argument %d: %d \"%s\"\n", name, field, status, message);
  CHECK(is_readable);
  return status != PLAIT_OK;
}

/* Makes calls with each argument wrong in turn, ROUNDS times, and then one with valid arguments.  Some of the wrong
 * values happen to be valid, so this function checks only that there are at least as many failures as arguments. */
static void try_alone(const char* name, tested_call call, int fields) {
  int errors = 0;
  alarm(MAX_SECONDS);
  for (int field = 0; field < fields; ++field)
    for (int round = 0; round < ROUNDS; ++round)
      errors += fails_with_message(call(field, draw(1000)), name, field) ? 1 : 0;
  CHECK(errors >= fields);
  const bool good_call_fails = fails_with_message(call(-1, 0), name, -1);
  if (good_call_fails) fprintf(stderr, "%s: %s\n", name, plait_message(NULL));
  CHECK(!good_call_fails);
  alarm(0);
}

/* Returns the layout for argument 0, which is NULL or of another shape if `field` is 0. */
static plait_layout* layout_argument(int field, unsigned value) {
  return field != 0 ? layout : value % 2 == 0 ? NULL : other;
}

/* Each function below makes the call that its name or body states; `field` is the number of the wrong argument, and
 * `value` selects its value. */
static plait_status parsing(int field, unsigned value) {
  plait_layout* result = NULL;
  const plait_status status =
      plait_layout_parse(field == 0 ? wrong_text(value) : "12x5 (*, *)", field == 1 ? NULL : &result);
  CHECK((status == PLAIT_OK) == (result != NULL));
  CHECK_OK(plait_layout_free(&result));
  return status;
}
static plait_status parsing_shape(int field, unsigned value) {
  const int64_t wrong[2] = {12, wrong_number(value)};
  plait_layout* result = NULL;
  const plait_status status = plait_layout_parse_shape(field == 0 ? wrong_text(value) : "(block, *) onto (3)",
                                                       field == 1 ? wrong_int(value) : 2,
                                                       field == 2   ? NULL
                                                       : field == 3 ? wrong
                                                                    : shape,
                                                       field == 4 ? NULL : &result);
  CHECK_OK(plait_layout_free(&result));
  return status;
}
static plait_status text_of_layout(int field, unsigned value) {
  char* text = NULL;
  const plait_status status = plait_layout_text(field == 0 ? NULL : layout, field == 1 ? NULL : &text);
  (void)value;
  CHECK_OK(plait_text_free(&text));
  return status;
}
static plait_status equal(int field, unsigned value) {
  (void)value;
  return plait_layout_equal(field == 0 ? NULL : layout, field == 1 ? NULL : other, field == 2 ? NULL : &flag);
}
static plait_status dimensions(int field, unsigned value) {
  (void)value;
  return plait_layout_dimensions(field == 0 ? NULL : layout, field == 1 ? NULL : &flag);
}
static plait_status layout_shape(int field, unsigned value) {
  return plait_layout_shape(field == 0 ? NULL : layout, field == 1 ? wrong_int(value % 2) : 2,
                            field == 2 ? NULL : numbers);
}
static plait_status elements(int field, unsigned value) {
  (void)value;
  return plait_layout_elements(field == 0 ? NULL : layout, field == 1 ? NULL : numbers);
}
static plait_status number_of_ranks(int field, unsigned value) {
  (void)value;
  return plait_layout_ranks(field == 0 ? NULL : layout, field == 1 ? NULL : numbers, field == 2 ? NULL : &count);
}
static plait_status has_rank(int field, unsigned value) {
  if (field < 0 || value % 2 == 0) CHECK_OK(plait_layout_has_rank(layout, wrong_number(value), &flag));
  return plait_layout_has_rank(field == 0 ? NULL : layout, 1, field == 1 ? NULL : &flag);
}
static plait_status rank_numbers(int field, unsigned value) {
  return plait_layout_rank_numbers(field == 0 ? NULL : layout, field == 1 ? wrong_number(value % 4) : CAPACITY,
                                   field == 2 ? NULL : numbers);
}

/* The arguments of the next two calls, in the order of `field`: layout, rank, capacity, shape. */
static plait_status local_shape(int field, unsigned value) {
  return plait_layout_local_shape(layout_argument(field, 0), field == 1 ? wrong_number(value) : 1,
                                  field == 2 ? wrong_int(value % 2) : 2, field == 3 ? NULL : numbers);
}
static plait_status padded_shape(int field, unsigned value) {
  return plait_layout_padded_shape(layout_argument(field, 0), field == 1 ? wrong_number(value) : 1,
                                   field == 2 ? wrong_int(value % 2) : 2, field == 3 ? NULL : numbers);
}
static plait_status order(int field, unsigned value) {
  int found[2];
  return plait_layout_order(layout_argument(field, 0), field == 1 ? wrong_int(value % 2) : 2,
                            field == 2 ? NULL : found);
}
static plait_status indices(int field, unsigned value) {
  return plait_layout_indices(layout_argument(field, 0), field == 1 ? wrong_number(value) : 1,
                              field == 2 ? wrong_int(value) : 0, field == 3 ? wrong_number(value % 4) : CAPACITY,
                              field == 4 ? NULL : numbers);
}
static plait_status owners(int field, unsigned value) {
  const int64_t index[2] = {1, field == 5 ? wrong_number(value) : 2};
  return plait_layout_owners(layout_argument(field, 0), field == 1 ? NULL : index,
                             field == 2 ? wrong_number(value % 4) : CAPACITY, field == 3 ? NULL : numbers,
                             field == 4 ? NULL : &count);
}
static plait_status to_local(int field, unsigned value) {
  const int64_t index[2] = {0, field == 4 ? wrong_number(value) : 0};
  return plait_layout_to_local(layout_argument(field, 0), field == 1 ? NULL : index,
                               field == 2 ? wrong_number(value) : 0, field == 3 ? NULL : numbers);
}
static plait_status to_global(int field, unsigned value) {
  const int64_t local[2] = {0, field == 4 ? wrong_number(value) : 0};
  return plait_layout_to_global(layout_argument(field, 0), field == 1 ? NULL : local,
                                field == 2 ? wrong_number(value) : 0, field == 3 ? NULL : numbers);
}
static plait_status held(int field, unsigned value) {
  return plait_layout_held(field == 0 ? NULL : other, field == 1 ? NULL : everyone,
                           field == 2 ? wrong_number(value) : 8, field == 3 ? NULL : numbers,
                           field == 4 ? NULL : &count);
}

void mpi_wrong_layouts(void) {
  seed = 6;
  CHECK_OK(plait_layout_parse("12x5 (cyclic(2), balanced) onto (2, 2)", &layout));
  CHECK_OK(plait_layout_parse("12x6 (*, *)", &other));
  try_alone("plait_layout_parse", parsing, 2);
  try_alone("plait_layout_parse_shape", parsing_shape, 5);
  try_alone("plait_layout_text", text_of_layout, 2);
  try_alone("plait_layout_equal", equal, 3);
  try_alone("plait_layout_dimensions", dimensions, 2);
  try_alone("plait_layout_shape", layout_shape, 3);
  try_alone("plait_layout_elements", elements, 2);
  try_alone("plait_layout_ranks", number_of_ranks, 3);
  try_alone("plait_layout_has_rank", has_rank, 2);
  try_alone("plait_layout_rank_numbers", rank_numbers, 3);
  try_alone("plait_layout_local_shape", local_shape, 4);
  try_alone("plait_layout_padded_shape", padded_shape, 4);
  try_alone("plait_layout_order", order, 3);
  try_alone("plait_layout_indices", indices, 5);
  try_alone("plait_layout_owners", owners, 6);
  try_alone("plait_layout_to_local", to_local, 5);
  try_alone("plait_layout_to_global", to_global, 5);
  try_alone("plait_layout_held", held, 5);
  CHECK_OK(plait_layout_free(NULL));
  CHECK_OK(plait_layout_free(&layout));
  CHECK_OK(plait_layout_free(&other));
}

static plait_status converting(int field, unsigned value) {
  plait_conversion* result = NULL;
  const plait_status status = plait_conversion_create(layout_argument(field, value), field == 1 ? other : layout,
                                                      wrong_int(value), field == 2 ? NULL : &result);
  CHECK_OK(plait_conversion_free(&result));
  return status;
}
/* The arguments, in the order of `field`: conversion, rank, capacity, messages, count. */
static plait_status list_traffic(int field, unsigned value, bool sent) {
  plait_traffic all[CAPACITY];
  const plait_conversion* const handle = field == 0 ? NULL : conversion;
  const int64_t of_rank = field == 1 ? wrong_number(value) : 1;
  const int64_t capacity = field == 2 ? wrong_number(value % 4) : CAPACITY;
  plait_traffic* const messages = field == 3 ? NULL : all;
  int64_t* const message_count = field == 4 ? NULL : &count;
  return sent ? plait_conversion_sends(handle, of_rank, capacity, messages, message_count)
              : plait_conversion_receives(handle, of_rank, capacity, messages, message_count);
}
static plait_status sends(int field, unsigned value) { return list_traffic(field, value, /*sent=*/true); }
static plait_status receives(int field, unsigned value) { return list_traffic(field, value, /*sent=*/false); }
static plait_status block(int field, unsigned value) {
  (void)value;
  return plait_conversion_block(field == 0 ? NULL : conversion, field == 1 ? NULL : &count);
}
static plait_status explaining_conversion(int field, unsigned value) {
  char* text = NULL;
  (void)value;
  const plait_status status = plait_conversion_explain(field == 0 ? NULL : conversion, field == 1 ? NULL : &text);
  CHECK_OK(plait_text_free(&text));
  return status;
}

void mpi_wrong_conversions(void) {
  seed = 7;
  CHECK_OK(plait_layout_parse("12x5 (cyclic(2), balanced) onto (2, 2)", &layout));
  CHECK_OK(plait_layout_parse("12x6 (*, *)", &other));
  CHECK_OK(plait_conversion_create(layout, layout, 0, &conversion));
  try_alone("plait_conversion_create", converting, 3);
  try_alone("plait_conversion_sends", sends, 5);
  try_alone("plait_conversion_receives", receives, 5);
  try_alone("plait_conversion_block", block, 2);
  try_alone("plait_conversion_explain", explaining_conversion, 2);
  CHECK_OK(plait_conversion_free(&conversion));
  CHECK_OK(plait_layout_free(&layout));
  CHECK_OK(plait_layout_free(&other));
}

static plait_status explaining(int field, unsigned value) {
  plait_slice slices[2] = {{0, 12, 1, 0}, {0, 5, 1, 0}};
  plait_access access = {field == 2 ? wrong_size(value) : sizeof access, slices, field == 3 ? wrong_int(value) : 2, 0};
  char* text = NULL;
  if (field == 4) slices[value % 2].start = wrong_number(value);
  if (field == 5) slices[value % 2].count = wrong_number(value);
  if (field == 6) slices[value % 2].stride = wrong_number(value);
  const plait_status status = plait_explain(field == 0 ? NULL : file, layout_argument(field - 1, value), &access,
                                            (int)(value % 2), field == 7 ? NULL : &text);
  CHECK_OK(plait_text_free(&text));
  return status;
}
static plait_status file_dimensions(int field, unsigned value) {
  (void)value;
  return plait_file_dimensions(field == 0 ? NULL : file, field == 1 ? NULL : &flag);
}
static plait_status file_shape(int field, unsigned value) {
  return plait_file_shape(field == 0 ? NULL : file, field == 1 ? wrong_int(value % 2) : 2, field == 2 ? NULL : numbers);
}
static plait_status file_element_bytes(int field, unsigned value) {
  (void)value;
  return plait_file_element_bytes(field == 0 ? NULL : file, field == 1 ? NULL : &count);
}
static plait_status file_dtype(int field, unsigned value) {
  char* text = NULL;
  (void)value;
  const plait_status status = plait_file_dtype(field == 0 ? NULL : file, field == 1 ? NULL : &text);
  CHECK_OK(plait_text_free(&text));
  return status;
}
static plait_status file_order(int field, unsigned value) {
  char letter = 0;
  (void)value;
  return plait_file_order(field == 0 ? NULL : file, field == 1 ? NULL : &letter);
}
static plait_status file_times(int field, unsigned value) {
  (void)value;
  return plait_file_times(field == 0 ? NULL : file, NULL, NULL, NULL, NULL);
}
static plait_status telling(int field, unsigned value) {
  plait_stream* stream = NULL;
  (void)value;
  CHECK_OK(plait_stream_open(file, PLAIT_STREAM_OWN, &stream));
  const plait_status status = plait_stream_tell(field == 0 ? NULL : stream, field == 1 ? NULL : &count);
  CHECK_OK(plait_stream_close(&stream));
  return status;
}

/* The arguments of plait_define_variable, in the order of `field`: file, name, dimensions, shape, a size in the shape,
 * dtype, bytes of an element. */
static plait_status defining(int field, unsigned value) {
  static int defined = 0;
  char name[32];
  const int64_t wrong[2] = {12, wrong_number(value)};
  snprintf(name, sizeof name, "array %d", defined++);
  return plait_define_variable(field == 0 ? NULL : file, field == 1 ? wrong_text(value % 2) : name,
                               field == 2 ? wrong_int(value) : 2,
                               field == 3   ? NULL
                               : field == 4 ? wrong
                                            : shape,
                               field == 5   ? wrong_text(1 + value % 4)
                               : field == 6 ? NULL
                                            : "<f8",
                               field == 6 ? wrong_number(value % 4) : 0);
}
static plait_status selecting(int field, unsigned value) {
  return plait_select_variable(field == 0 ? NULL : file, field == 1 ? wrong_text(value) : "data");
}
static plait_status putting_integer(int field, unsigned value) {
  return plait_put_integer(field == 0 ? NULL : file, field == 1 ? NULL : "n", wrong_number(value));
}
static plait_status putting_real(int field, unsigned value) {
  return plait_put_real(field == 0 ? NULL : file, field == 1 ? NULL : "r", value % 2 == 0 ? NAN : INFINITY);
}
static plait_status putting_text(int field, unsigned value) {
  (void)value;
  return plait_put_text(field == 0 ? NULL : file, field == 1 ? NULL : "t", field == 2 ? NULL : "text");
}

/* Queries of a file and of its steps.  arguments_steps.c tests the calls that begin and end steps. */
void mpi_wrong_queries(void) {
  plait_open_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.shape = shape;
  options.dimensions = 2;
  options.dtype = "<f8";
  seed = 8;
  CHECK_OK(plait_layout_parse("12x5 (balanced, *) onto (2)", &layout));
  CHECK_OK(plait_layout_parse("12x6 (*, *)", &other));
  CHECK_OK(plait_open(scratch("questions.npy"), "w", everyone, &options, &file));
  try_alone("plait_explain", explaining, 8);
  try_alone("plait_file_dimensions", file_dimensions, 2);
  try_alone("plait_file_shape", file_shape, 3);
  try_alone("plait_file_element_bytes", file_element_bytes, 2);
  try_alone("plait_file_dtype", file_dtype, 2);
  try_alone("plait_file_order", file_order, 2);
  try_alone("plait_file_times", file_times, 1);
  try_alone("plait_put_integer", putting_integer, 2);
  try_alone("plait_put_real", putting_real, 2);
  try_alone("plait_put_text", putting_text, 3);
  try_alone("plait_select_variable", selecting, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_open(scratch("questions.npy"), "r+", everyone, NULL, &file));
  for (int field = -1; field < 2; ++field)
    CHECK(fails_with_message(telling(field, 0), "plait_stream_tell", field) == (field >= 0));
  CHECK_OK(plait_close(&file));
  setenv("PLAIT_MEET", scratch_folder, 1);
  CHECK_OK(plait_open("pipe:questions?readers=0", "w", everyone, &options, &file));
  try_alone("plait_define_variable", defining, 7);
  CHECK_OK(plait_abandon(&file));
  CHECK_OK(plait_layout_free(&layout));
  CHECK_OK(plait_layout_free(&other));
}

/* NULL handles, and plait_comm_world in a job of MPI. */
void mpi_wrong_handles(void) {
  plait_comm* comm = NULL;
  char* text = NULL;
  void* memory = NULL;
  int64_t bytes = 0;
  alarm(MAX_SECONDS);
  CHECK_FAILS(plait_comm_rank(NULL, &flag), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_comm_size(NULL, &flag), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_comm_rank(everyone, NULL), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_comm_size(everyone, NULL), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_comm_barrier(NULL), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_comm_fail(NULL, "x"), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_request_wait(NULL), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_request_test(NULL, &flag), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_request_elements(NULL, &bytes), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_redistribution_explain(NULL, &text), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_shared_memory(NULL, &memory, &bytes), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_dio_owner(NULL, &flag), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_FAILS(plait_dio_test(NULL, &flag), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_OK(plait_comm_free(&comm));
  CHECK_OK(plait_text_free(NULL));
  static const double seconds[] = {-1, NAN, INFINITY, -INFINITY, 1e300, 0};
  for (size_t i = 0; i < sizeof seconds / sizeof *seconds; ++i) {
    const plait_status status = plait_comm_world(seconds[i], &comm);
    fails_with_message(status, "plait_comm_world", (int)i);
    CHECK_OK(plait_comm_free(&comm));
  }
  CHECK(fails_with_message(plait_comm_world(1, NULL), "plait_comm_world", -1));
  alarm(0);
}
