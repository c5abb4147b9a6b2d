/* Wrong arguments of the collective calls of steps: one rank's mistake is an error on all ranks, and the next calls
 * succeed. */
#define _XOPEN_SOURCE 700
#include <plait/steps.h>
#include <stdlib.h>
#include <unistd.h>

#include "arguments.h"
#include "cases.h"
#include "check.h"
#include "oracle.h"
#include "together.h"

enum { ELEMENTS = 60 };

static const int64_t shape[2] = {12, 5};
static plait_file* writer;
static plait_file* reader;
static plait_file* file;
static plait_layout* rows;
static plait_layout* other;
static double values[ELEMENTS];

/* Sets attributes with unusual names and texts, some of which are invalid; readers get the attributes of rank 0. */
static void put_unusual_attributes(unsigned value) {
  plait_put_integer(writer, wrong_text(value), wrong_number(value));
  plait_put_real(writer, wrong_text(value + 1), 0.5);
  plait_put_text(writer, wrong_text(value + 2), wrong_text(value + 3));
}

/* Writes and reads a step of a pipe whose ends are both these ranks.  The writer's wrong argument: layout, bytes. */
static plait_status writing(int field, unsigned value) {
  const plait_layout* const layout = field == 0 ? (value % 2 == 0 ? NULL : other) : rows;
  int more = 0;
  put_unusual_attributes(value);
  CHECK_OK(plait_begin_step(writer, &more));
  CHECK_EQUAL(more, 1);
  const plait_status status = plait_write(writer, layout, values, field == 1 ? 7 : (int64_t)sizeof values);
  if (status != PLAIT_OK) CHECK_OK(plait_write(writer, rows, values, sizeof values));
  CHECK_OK(plait_end_step(writer));
  CHECK_OK(plait_begin_step(reader, &more));
  CHECK_EQUAL(more, 1);
  CHECK_OK(plait_read(reader, rows, values, sizeof values));
  CHECK_OK(plait_end_step(reader));
  return status;
}

/* Writes and reads a step in the same way.  The reader's wrong argument: more, layout, bytes. */
static plait_status reading(int field, unsigned value) {
  const plait_layout* const layout = field == 1 ? (value % 2 == 0 ? NULL : other) : rows;
  int more = 0;
  CHECK_OK(plait_begin_step(writer, &more));
  CHECK_OK(plait_write(writer, rows, values, sizeof values));
  CHECK_OK(plait_end_step(writer));
  plait_status status = plait_begin_step(reader, field == 0 ? NULL : &more);
  if (status != PLAIT_OK) CHECK_OK(plait_begin_step(reader, &more));
  CHECK_EQUAL(more, 1);
  const plait_status read = plait_read(reader, layout, values, field == 2 ? 7 : (int64_t)sizeof values);
  if (read != PLAIT_OK) CHECK_OK(plait_read(reader, rows, values, sizeof values));
  CHECK_OK(plait_end_step(reader));
  return status != PLAIT_OK ? status : read;
}

/* Begins and ends the step of a file that is no pipe.  The wrong argument: more. */
static plait_status beginning(int field, unsigned value) {
  int more = 0;
  (void)value;
  const plait_status status = plait_begin_step(file, field == 0 ? NULL : &more);
  if (status == PLAIT_OK) CHECK_OK(plait_end_step(file));
  return status;
}

/* Makes queries of the reader of a step, which are not collective, with a wrong name or value. */
static void check_failing_queries(void) {
  int64_t integer = 0;
  double real = 0;
  int count = 0;
  char* text = NULL;
  for (unsigned value = 0; value < 10; ++value) {
    const char* const name = value == 3 ? "no" : wrong_text(value); /* an attribute "x" exists */
    CHECK(plait_get_integer(reader, name, &integer) != PLAIT_OK);
    CHECK(plait_get_real(reader, name, &real) != PLAIT_OK);
    CHECK(plait_get_text(reader, name, &text) != PLAIT_OK);
    CHECK(plait_variable_name(reader, wrong_int(value), &text) != PLAIT_OK);
    CHECK(text == NULL);
  }
  CHECK_FAILS(plait_get_integer(reader, "x", NULL), PLAIT_ERROR_ARGUMENT, "value is NULL");
  CHECK_FAILS(plait_get_real(reader, "x", NULL), PLAIT_ERROR_ARGUMENT, "value is NULL");
  CHECK_FAILS(plait_get_text(reader, "x", &text), PLAIT_ERROR_ARGUMENT, "an integer");
  CHECK_FAILS(plait_variables(reader, NULL), PLAIT_ERROR_ARGUMENT, "count is NULL");
  CHECK_FAILS(plait_variable_name(reader, 0, NULL), PLAIT_ERROR_ARGUMENT, "name is NULL");
  CHECK_FAILS(plait_step_number(reader, NULL), PLAIT_ERROR_ARGUMENT, "number is NULL");
  CHECK_FAILS(plait_put_integer(reader, "x", 1), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK_OK(plait_get_integer(reader, "x", &integer));
  CHECK_EQUAL(integer, 7);
  CHECK_OK(plait_variables(reader, &count));
  CHECK_EQUAL(count, 1);
}

static void check_queries(void) {
  int more = 0;
  CHECK_OK(plait_put_integer(writer, "x", 7));
  CHECK_OK(plait_begin_step(writer, &more));
  CHECK_OK(plait_write(writer, rows, values, sizeof values));
  CHECK_OK(plait_end_step(writer));
  CHECK_OK(plait_begin_step(reader, &more));
  check_failing_queries();
  CHECK_OK(plait_read(reader, rows, values, sizeof values));
  CHECK_OK(plait_end_step(reader));
}

void mpi_wrong_steps(void) {
  char text[64];
  const plait_open_options options = double_options(shape);
  seed = 9;
  setenv("PLAIT_MEET", scratch_folder, 1);
  snprintf(text, sizeof text, "12x5 (balanced, *) onto (%d)", ranks);
  CHECK_OK(plait_layout_parse(text, &rows));
  CHECK_OK(plait_layout_parse("12x6 (*, *)", &other));
  CHECK_OK(plait_open(scratch("one-step.npy"), "w", everyone, &options, &file));
  try_call("plait_begin_step", beginning, 1, 8);
  ALL_FAIL(plait_end_step(file), PLAIT_ERROR_ARGUMENT, "no step has begun");
  CHECK_OK(plait_abandon(&file));
  CHECK_OK(plait_open("pipe:arguments?readers=0&queue=8", "w", everyone, &options, &writer));
  CHECK_OK(plait_open("pipe:arguments", "r", everyone, NULL, &reader));
  try_call("a step that is written", writing, 2, 8);
  try_call("a step that is read", reading, 3, 6);
  ALL_FAIL(plait_end_step(writer), PLAIT_ERROR_ARGUMENT, "no step has begun");
  ALL_FAIL(plait_end_step(reader), PLAIT_ERROR_ARGUMENT, "no step has begun");
  alarm(SECONDS);
  check_queries();
  alarm(0);
  CHECK_OK(plait_abandon(&reader));
  CHECK_OK(plait_abandon(&writer));
  CHECK_OK(plait_layout_free(&rows));
  CHECK_OK(plait_layout_free(&other));
}
