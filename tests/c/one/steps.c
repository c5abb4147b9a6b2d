/* Steps of pipes: both ends of a pipe are in one process, which has the arrays of all ranks. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <plait.h>
#include <plait/steps.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cases.h"
#include "check.h"

enum { ROWS = 5, COLUMNS = 4, STEPS = 3 };
static const int64_t kShape[2] = {ROWS, COLUMNS};

/* Makes a folder in which the two ends of a pipe find each other. */
static void set_meeting_folder(void) {
  const char* folder = scratch("meet");
  mkdir(folder, 0700);
  setenv("PLAIT_MEET", folder, 1);
}

static plait_open_options make_options(const int64_t* shape, const char* dtype) {
  plait_open_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.shape = shape;
  options.dimensions = 2;
  options.dtype = dtype;
  return options;
}

static plait_layout* parse_layout(const char* text, int dimensions, const int64_t* shape) {
  plait_layout* layout = NULL;
  CHECK_OK(plait_layout_parse_shape(text, dimensions, shape, &layout));
  return layout;
}

/* Opens a writer whose queue can contain all steps of a test, so that it never waits for a reader. */
static plait_file* open_writer(void) {
  const plait_open_options options = make_options(kShape, "<f8");
  plait_file* file = NULL;
  set_meeting_folder();
  CHECK_OK(plait_open("pipe:flow?readers=0&queue=8", "w", plait_alone(), &options, &file));
  return file;
}

static plait_file* open_reader(void) {
  plait_file* file = NULL;
  CHECK_OK(plait_open("pipe:flow", "r", plait_alone(), NULL, &file));
  return file;
}

static void* close_writer(void* file) {
  plait_file* writer = file;
  return plait_close(&writer) == PLAIT_OK ? NULL : writer;
}

/* Closes both ends.  The writer's close waits until the reader ends, so it runs in a thread. */
static void close_both(plait_file** from, plait_file** to) {
  pthread_t thread;
  void* thread_result = NULL;
  CHECK_EQUAL(pthread_create(&thread, NULL, close_writer, *from), 0);
  CHECK_OK(plait_close(to));
  CHECK_EQUAL(pthread_join(thread, &thread_result), 0);
  CHECK(thread_result == NULL);
  *from = NULL;
}

/* Writes the numbers value, value + 1, ... as the array "data". */
static void write_step(plait_file* file, double value) {
  plait_layout* layout = parse_layout("(*, *)", 2, kShape);
  double values[ROWS * COLUMNS];
  for (int n = 0; n < ROWS * COLUMNS; ++n) values[n] = value + n;
  CHECK_OK(plait_write(file, layout, values, sizeof values));
  CHECK_OK(plait_layout_free(&layout));
}

void steps_with_attributes_and_variables(void) {
  const int64_t few = 3;
  plait_file* from = open_writer();
  plait_layout* whole = parse_layout("(*)", 1, &few);
  int more = -1;
  for (int step = 0; step < STEPS; ++step) {
    const int16_t pressure[3] = {(int16_t)step, -1, 7};
    CHECK_OK(plait_put_integer(from, "count", step));
    CHECK_OK(plait_put_integer(from, "count", INT64_MIN + step)); /* replaces the value before */
    CHECK_OK(plait_put_real(from, "time", 0.5 * step));
    CHECK_OK(plait_put_text(from, "name", "r\303\274n"));
    CHECK_OK(plait_begin_step(from, &more));
    CHECK_EQUAL(more, 1);
    CHECK_OK(plait_put_integer(from, "late", step)); /* belongs to the next step */
    if (step == 0) {
      CHECK_OK(plait_define_variable(from, "pressure", 1, &few, "<i2", 0));
    } else {
      CHECK_OK(plait_select_variable(from, "pressure"));
    }
    CHECK_OK(plait_write(from, whole, pressure, sizeof pressure));
    CHECK_OK(plait_select_variable(from, "data"));
    write_step(from, 100.0 * step);
    CHECK_OK(plait_end_step(from));
  }

  plait_file* to = open_reader();
  plait_layout* halves = parse_layout("(*, block) onto (2)", 2, kShape);
  for (int step = 0; step < STEPS; ++step) {
    int64_t integer = 0;
    double real = NAN;
    char* text = NULL;
    int count = 0;
    int16_t pressure[3] = {0};
    double parts[ROWS * COLUMNS];
    CHECK_OK(plait_begin_step(to, &more));
    CHECK_EQUAL(more, 1);
    CHECK_OK(plait_step_number(to, &integer));
    CHECK_EQUAL(integer, step);
    CHECK_OK(plait_get_integer(to, "count", &integer));
    CHECK(integer == INT64_MIN + step);
    CHECK_OK(plait_get_real(to, "time", &real));
    CHECK(real == 0.5 * step);
    CHECK_OK(plait_get_real(to, "count", &real)); /* integers can be read as reals */
    CHECK(real == (double)(INT64_MIN + step));
    CHECK_OK(plait_get_text(to, "name", &text));
    CHECK(text != NULL && strcmp(text, "r\303\274n") == 0);
    CHECK_OK(plait_text_free(&text));
    if (step == 0) {
      CHECK_FAILS(plait_get_integer(to, "late", &integer), PLAIT_ERROR_ARGUMENT, "it has count, name, time");
    } else {
      CHECK_OK(plait_get_integer(to, "late", &integer));
      CHECK_EQUAL(integer, step - 1);
    }
    CHECK_OK(plait_variables(to, &count));
    CHECK_EQUAL(count, 2);
    for (int n = 0; n < count; ++n) {
      CHECK_OK(plait_variable_name(to, n, &text));
      CHECK(text != NULL && strcmp(text, n == 0 ? "pressure" : "data") == 0);
      CHECK_OK(plait_text_free(&text));
    }
    CHECK_OK(plait_select_variable(to, "pressure"));
    CHECK_OK(plait_file_dimensions(to, &count));
    CHECK_EQUAL(count, 1);
    CHECK_OK(plait_file_shape(to, 1, &integer));
    CHECK_EQUAL(integer, few);
    CHECK_OK(plait_file_dtype(to, &text));
    CHECK(text != NULL && strcmp(text, "<i2") == 0);
    CHECK_OK(plait_text_free(&text));
    CHECK_OK(plait_read(to, whole, pressure, sizeof pressure));
    CHECK(pressure[0] == step && pressure[1] == -1 && pressure[2] == 7);
    CHECK_OK(plait_select_variable(to, "data"));
    CHECK_OK(plait_read(to, halves, parts, sizeof parts));
    for (int n = 0; n < ROWS * COLUMNS; ++n) {
      const int row = n % (ROWS * 2) / 2;
      const int column = n / (ROWS * 2) * 2 + n % 2;
      CHECK(parts[n] == 100.0 * step + row * COLUMNS + column);
    }
    CHECK_OK(plait_end_step(to));
  }
  pthread_t thread;
  void* thread_result = NULL;
  CHECK_EQUAL(pthread_create(&thread, NULL, close_writer, from), 0);
  CHECK_OK(plait_begin_step(to, &more));
  CHECK_EQUAL(more, 0);
  CHECK_OK(plait_begin_step(to, &more)); /* the call may be repeated */
  CHECK_EQUAL(more, 0);
  CHECK_EQUAL(pthread_join(thread, &thread_result), 0);
  CHECK(thread_result == NULL);
  double unused[ROWS * COLUMNS];
  CHECK_FAILS(plait_read(to, halves, unused, sizeof unused), PLAIT_ERROR_SYSTEM, "no more steps will come");
  CHECK_OK(plait_close(&to));
  CHECK_OK(plait_layout_free(&whole));
  CHECK_OK(plait_layout_free(&halves));
}

void steps_without_begin_step(void) {
  plait_file* from = open_writer();
  plait_layout* layout = parse_layout("(*, *)", 2, kShape);
  for (int step = 0; step < STEPS; ++step) write_step(from, 10.0 * step);
  plait_file* to = open_reader();
  double values[ROWS * COLUMNS];
  plait_request* request = NULL;
  CHECK_OK(plait_read(to, layout, values, sizeof values));
  CHECK(values[0] == 0 && values[7] == 7);
  CHECK_OK(plait_start_read(to, layout, values, sizeof values, &request));
  CHECK_OK(plait_request_free(&request));
  CHECK(values[0] == 10 && values[7] == 17);
  /* The box of rows 2 to 3 and columns 1 to 3. */
  const plait_slice box[2] = {{2, 2, 1, 0}, {1, 3, 1, 0}};
  const int64_t small[2] = {2, 3};
  plait_layout* inner = parse_layout("(cyclic, *) onto (2)", 2, small);
  double parts[2][3] = {{0}};
  const plait_part each[2] = {{parts[1], sizeof parts[1], NULL}, {parts[0], sizeof parts[0], NULL}};
  plait_access access = {sizeof access, box, 2, 0};
  CHECK_OK(plait_read_parts(to, inner, each, 2, &access));
  for (int column = 0; column < 3; ++column) {
    CHECK(parts[1][column] == 20 + 2 * COLUMNS + 1 + column);
    CHECK(parts[0][column] == 20 + 3 * COLUMNS + 1 + column);
  }
  CHECK_OK(plait_layout_free(&inner));
  CHECK_OK(plait_layout_free(&layout));
  close_both(&from, &to);
}

void steps_of_another_type(void) {
  plait_file* from = open_writer();
  plait_layout* layout = parse_layout("(*, *)", 2, kShape);
  char wide[16 * ROWS * COLUMNS];
  int64_t bytes = 0;
  int more = 0;
  memset(wide, 1, sizeof wide);
  write_step(from, 0);
  CHECK_OK(plait_define_variable(from, "data", 2, kShape, "<c16", 0));
  CHECK_OK(plait_write(from, layout, wide, sizeof wide));
  CHECK_OK(plait_write(from, layout, wide, sizeof wide));
  plait_file* to = open_reader();
  double values[ROWS * COLUMNS];
  CHECK_OK(plait_read(to, layout, values, sizeof values));
  memset(values, 0, sizeof values);
  /* The reader's buffer has room for doubles only. */
  CHECK_FAILS(plait_read(to, layout, values, sizeof values), PLAIT_ERROR_ARGUMENT, "16 bytes");
  CHECK(values[0] == 0 && values[ROWS * COLUMNS - 1] == 0);
  CHECK_OK(plait_begin_step(to, &more));
  CHECK_EQUAL(more, 1);
  CHECK_OK(plait_file_element_bytes(to, &bytes));
  CHECK_EQUAL(bytes, 16);
  memset(wide, 0, sizeof wide);
  CHECK_OK(plait_read(to, layout, wide, sizeof wide));
  CHECK(wide[0] == 1 && wide[sizeof wide - 1] == 1);
  CHECK_OK(plait_end_step(to));
  CHECK_OK(plait_layout_free(&layout));
  close_both(&from, &to);
}

static void writer_errors(plait_file* file) {
  const int64_t negative[1] = {-1};
  plait_layout* layout = parse_layout("(*, *)", 2, kShape);
  double values[ROWS * COLUMNS] = {0};
  int64_t number = 0;
  int more = 0;
  char* text = NULL;
  CHECK_FAILS(plait_put_integer(NULL, "n", 1), PLAIT_ERROR_ARGUMENT, "file is NULL");
  CHECK_FAILS(plait_put_integer(file, NULL, 1), PLAIT_ERROR_ARGUMENT, "name is NULL");
  CHECK_FAILS(plait_put_text(file, "n", NULL), PLAIT_ERROR_ARGUMENT, "value is NULL");
  CHECK_FAILS(plait_begin_step(file, NULL), PLAIT_ERROR_ARGUMENT, "more is NULL");
  CHECK_FAILS(plait_end_step(file), PLAIT_ERROR_ARGUMENT, "no step has begun");
  CHECK_CONTAINS(plait_message(file), "no step has begun");
  CHECK_FAILS(plait_step_number(file, NULL), PLAIT_ERROR_ARGUMENT, "number is NULL");
  CHECK_FAILS(plait_select_variable(file, "heat"), PLAIT_ERROR_ARGUMENT, "is new");
  CHECK_FAILS(plait_select_variable(file, ""), PLAIT_ERROR_ARGUMENT, "an empty name");
  CHECK_FAILS(plait_define_variable(file, "heat", 1, negative, "<f8", 0), PLAIT_ERROR_ARGUMENT, "negative");
  CHECK_FAILS(plait_define_variable(file, "heat", 2, kShape, NULL, 0), PLAIT_ERROR_ARGUMENT, "dtype");
  CHECK_FAILS(plait_define_variable(file, "heat", 2, NULL, "<f8", 0), PLAIT_ERROR_ARGUMENT, "shape is NULL");
  CHECK_FAILS(plait_define_variable(file, "heat", 2, kShape, "<q8", 0), PLAIT_ERROR_ARGUMENT, "<q8");
  CHECK_FAILS(plait_read(file, layout, values, sizeof values), PLAIT_ERROR_ARGUMENT, "open for writing");
  const plait_slice box[2] = {{0, ROWS, 1, 0}, {0, COLUMNS, 1, 0}};
  const plait_const_part part = {values, sizeof values, NULL};
  plait_access access = {sizeof access, box, 2, 0};
  CHECK_FAILS(plait_write_parts(file, layout, &part, 1, &access), PLAIT_ERROR_ARGUMENT, "whole arrays");
  CHECK_FAILS(plait_variable_name(file, 9, &text), PLAIT_ERROR_ARGUMENT, "number 9");
  CHECK(text == NULL);
  CHECK_OK(plait_put_integer(file, "n", 41));
  CHECK_OK(plait_begin_step(file, &more));
  CHECK_FAILS(plait_begin_step(file, &more), PLAIT_ERROR_ARGUMENT, "has not ended");
  write_step(file, 0);
  CHECK_FAILS(plait_write(file, layout, values, sizeof values), PLAIT_ERROR_ARGUMENT, "already");
  CHECK_FAILS(plait_end_step(file), PLAIT_ERROR_SYSTEM, "was discarded");
  CHECK_OK(plait_put_integer(file, "n", 42));
  CHECK_OK(plait_put_text(file, "empty", ""));
  CHECK_OK(plait_begin_step(file, &more));
  write_step(file, 0);
  CHECK_OK(plait_get_integer(file, "n", &number)); /* of the writer */
  CHECK_EQUAL(number, 42);
  CHECK_OK(plait_end_step(file));
  CHECK_OK(plait_layout_free(&layout));
}

static void reader_errors(plait_file* file) {
  plait_layout* layout = parse_layout("(*, *)", 2, kShape);
  double values[ROWS * COLUMNS] = {0};
  int64_t number = 77;
  double real = 77;
  int more = 0;
  char* text = NULL;
  CHECK_FAILS(plait_select_variable(file, "heat"), PLAIT_ERROR_ARGUMENT, "can be read only within a step");
  CHECK_FAILS(plait_put_real(file, "n", 1), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK_FAILS(plait_write(file, layout, values, sizeof values), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK_OK(plait_begin_step(file, &more));
  CHECK_EQUAL(more, 1);
  CHECK_FAILS(plait_get_integer(file, "m", &number), PLAIT_ERROR_ARGUMENT, "has no attribute \"m\"; it has empty, n");
  CHECK_FAILS(plait_get_integer(file, "empty", &number), PLAIT_ERROR_ARGUMENT, "is a text, but an integer");
  CHECK_FAILS(plait_get_real(file, "empty", &real), PLAIT_ERROR_ARGUMENT, "is a text, but a real");
  CHECK_FAILS(plait_get_text(file, "n", &text), PLAIT_ERROR_ARGUMENT, "is an integer, but a text");
  CHECK_FAILS(plait_get_integer(file, "n", NULL), PLAIT_ERROR_ARGUMENT, "value is NULL");
  CHECK_FAILS(plait_get_text(file, "empty", NULL), PLAIT_ERROR_ARGUMENT, "value is NULL");
  CHECK(number == 77 && real == 77 && text == NULL);
  CHECK_OK(plait_get_text(file, "empty", &text));
  CHECK(text != NULL && *text == '\0');
  CHECK_OK(plait_text_free(&text));
  CHECK_FAILS(plait_select_variable(file, "heat"), PLAIT_ERROR_ARGUMENT, "which has: data");
  CHECK_FAILS(plait_variable_name(file, 1, &text), PLAIT_ERROR_ARGUMENT, "number 1");
  CHECK_FAILS(plait_variable_name(file, -1, &text), PLAIT_ERROR_ARGUMENT, "number -1");
  /* Boxes that reach outside of the array. */
  const plait_slice outside[4][2] = {{{4, 2, 1, 0}, {0, 1, 1, 0}},
                                     {{0, 2, 1, 0}, {-1, 1, 1, 0}},
                                     {{0, 2, 1, 0}, {COLUMNS, 1, 1, 0}},
                                     {{INT64_MAX, 2, 1, 0}, {0, 1, 1, 0}}};
  const int64_t small[2] = {2, 1};
  plait_layout* inner = parse_layout("(*, *)", 2, small);
  const plait_part part = {values, sizeof values, NULL};
  plait_access access = {sizeof access, NULL, 2, 0};
  for (int n = 0; n < 4; ++n) {
    access.region = outside[n];
    CHECK_FAILS(plait_read_parts(file, inner, &part, 1, &access), PLAIT_ERROR_ARGUMENT, "");
  }
  const plait_slice every_second[2] = {{0, 2, 2, 0}, {0, 1, 1, 0}};
  access.region = every_second;
  CHECK_OK(plait_read_parts(file, inner, &part, 1, &access));
  CHECK(values[0] == 0 && values[1] == 2 * COLUMNS);
  access.region = outside[0];
  access.slices = 1;
  CHECK_FAILS(plait_read_parts(file, inner, &part, 1, &access), PLAIT_ERROR_ARGUMENT, "dimensions");
  CHECK_FAILS(plait_read(file, inner, values, sizeof values), PLAIT_ERROR_ARGUMENT, "of an array 2x1");
  CHECK_FAILS(plait_read(file, layout, values, sizeof values - 1), PLAIT_ERROR_ARGUMENT, "159");
  CHECK_FAILS(plait_read(file, NULL, values, sizeof values), PLAIT_ERROR_ARGUMENT, "layout is NULL");
  CHECK_OK(plait_read(file, layout, values, sizeof values)); /* the file is still usable */
  CHECK(values[19] == 19);
  CHECK_OK(plait_end_step(file));
  CHECK_OK(plait_layout_free(&inner));
  CHECK_OK(plait_layout_free(&layout));
}

void steps_errors(void) {
  plait_open_options options = make_options(kShape, "<f8");
  plait_file* to = NULL;
  plait_file* from = open_writer();
  writer_errors(from);
  CHECK_FAILS(plait_open("pipe:flow", "r+", plait_alone(), &options, &to), PLAIT_ERROR_ARGUMENT, "read and written");
  options.element_bytes = 8;
  options.dtype = NULL;
  options.offset = 8;
  CHECK_FAILS(plait_open("pipe:flow", "r", plait_alone(), &options, &to), PLAIT_ERROR_ARGUMENT, "offset");
  CHECK(to == NULL);
  to = open_reader();
  reader_errors(to);
  close_both(&from, &to);

  CHECK_FAILS(plait_open("pipe:flow?timeout=0.1", "r", plait_alone(), NULL, &to), PLAIT_ERROR_SYSTEM,
              "no writer has come within 0.1 s");
  options = make_options(kShape, "<f8");
  CHECK_FAILS(plait_open("pipe:flow?timeout=0.1", "w", plait_alone(), &options, &from), PLAIT_ERROR_SYSTEM,
              "no reader has come within 0.1 s");
  CHECK(to == NULL && from == NULL);
}

void steps_of_an_abandoned_writer(void) {
  plait_file* from = open_writer();
  plait_file* to = open_reader();
  int more = 0;
  write_step(from, 0);
  CHECK_OK(plait_abandon(&from));
  CHECK(from == NULL);
  CHECK_FAILS(plait_begin_step(to, &more), PLAIT_ERROR_SYSTEM, "has given up");
  CHECK_OK(plait_abandon(&to));
}

/* Steps of a file that is no pipe: it contains one step, which the next step replaces. */
void steps_of_a_file(void) {
  const plait_open_options options = make_options(kShape, "<f8");
  plait_layout* layout = parse_layout("(*, *)", 2, kShape);
  const char* name = scratch("steps.npy");
  double values[ROWS * COLUMNS];
  int64_t number = -1;
  plait_file* file = NULL;
  int more = 0;
  CHECK_OK(plait_open(name, "w", plait_alone(), &options, &file));
  for (int step = 0; step < STEPS; ++step) {
    CHECK_OK(plait_put_integer(file, "n", step));
    CHECK_OK(plait_begin_step(file, &more));
    CHECK_EQUAL(more, 1);
    CHECK_OK(plait_step_number(file, &number));
    CHECK_EQUAL(number, step);
    write_step(file, 10.0 * step);
    CHECK_OK(plait_end_step(file));
  }
  CHECK_FAILS(plait_define_variable(file, "heat", 2, kShape, "<f8", 0), PLAIT_ERROR_ARGUMENT, "one array");
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_open(name, "r", plait_alone(), NULL, &file));
  CHECK_OK(plait_begin_step(file, &more));
  CHECK_EQUAL(more, 1);
  CHECK_FAILS(plait_get_integer(file, "n", &number), PLAIT_ERROR_ARGUMENT, "it has none");
  CHECK_OK(plait_select_variable(file, "data"));
  CHECK_OK(plait_read(file, layout, values, sizeof values));
  CHECK(values[0] == 20 && values[19] == 39);
  CHECK_OK(plait_end_step(file));
  CHECK_OK(plait_begin_step(file, &more));
  CHECK_EQUAL(more, 0);
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&layout));
}
