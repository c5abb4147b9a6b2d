/* Files in one process: accesses with every layout, parts, regions, halos, requests, chunks and growth. */
#include <plait.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "oracle.h"

static plait_file* open_scratch(const char* name, const char* mode, const plait_open_options* options) {
  plait_file* file = NULL;
  CHECK_OK(plait_open(scratch(name), mode, plait_alone(), options, &file));
  return file;
}

/* Writes the array that `oracle` distributes to a new file. */
static void write_file(const char* name, const struct oracle* oracle, const char* order) {
  const int64_t shape[2] = {oracle->dimension[0].size, oracle->dimension[1].size};
  plait_open_options options = double_options(shape);
  plait_layout* layout = oracle_layout(oracle);
  int64_t count = 0;
  double* values = oracle_local_arrays(oracle, 0, oracle_ranks(oracle) - 1, &count);
  options.order = order;
  plait_file* file = open_scratch(name, "w", &options);
  CHECK_OK(plait_write(file, layout, values, count * 8));
  CHECK_OK(plait_close(&file));
  CHECK(file == NULL);
  CHECK_OK(plait_layout_free(&layout));
  free(values);
}

/* Checks that a file consists of the values of a whole array, in C or Fortran order. */
static void check_raw(const char* name, int64_t rows, int64_t columns, int fortran) {
  FILE* raw = fopen(scratch(name), "rb");
  CHECK(raw != NULL);
  if (raw == NULL) return;
  for (int64_t n = 0; n < rows * columns; ++n) {
    double value = 0;
    CHECK_EQUAL(fread(&value, sizeof value, 1, raw), 1);
    CHECK(value == oracle_value(fortran ? n % rows * columns + n / rows : n));
  }
  fclose(raw);
}

void file_every_layout(void) {
  const int64_t rows = 7;
  const int64_t columns = 5;
  const int64_t shape[2] = {7, 5};
  struct oracle from[80];
  struct oracle to[80];
  const int sources = oracle_examples(rows, columns, 4, from, 80);
  const int targets = oracle_examples(rows, columns, 6, to, 80);
  for (int s = 0; s < sources; s += 2) {
    const int fortran = s / 2 % 2;
    plait_open_options raw = double_options(shape);
    raw.order = fortran ? "F" : "C";
    write_file("every.bin", &from[s], raw.order);
    check_raw("every.bin", rows, columns, fortran);
    plait_file* file = open_scratch("every.bin", "r", &raw);
    for (int t = s % 3; t < targets; t += 3) {
      plait_layout* layout = oracle_layout(&to[t]);
      double* values = allocate(35 * sizeof *values);
      CHECK_OK(plait_read(file, layout, values, 35 * sizeof *values));
      CHECK_EQUAL(oracle_count_differences(&to[t], 0, 5, values), 0);
      CHECK_OK(plait_layout_free(&layout));
      free(values);
    }
    CHECK_OK(plait_close(&file));
  }
}

void file_parts_with_strides(void) {
  const struct oracle whole = {{{WHOLE, 0, 6, 1}, {WHOLE, 0, 4, 1}}, 0};
  const struct oracle halves = {{{BLOCK, 0, 6, 2}, {WHOLE, 0, 4, 1}}, 0};
  plait_layout* layout = oracle_layout(&halves);
  write_file("steps.npy", &whole, NULL);
  /* The first rank's part is transposed, and the rows of the second one are in reverse order. */
  double transposed[4][3];
  double reversed[3][4];
  const int64_t transposed_strides[2] = {8, 24};
  const int64_t reversed_strides[2] = {-32, 8};
  const plait_part parts[2] = {{transposed, sizeof transposed, transposed_strides},
                               {reversed[2], 32, reversed_strides}};
  plait_file* file = open_scratch("steps.npy", "r", NULL);
  CHECK_OK(plait_read_parts(file, layout, parts, 2, NULL));
  CHECK_OK(plait_close(&file));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      CHECK(transposed[j][i] == oracle_value(i * 4 + j));
      CHECK(reversed[2 - i][j] == oracle_value((i + 3) * 4 + j));
    }
  const int64_t shape[2] = {6, 4};
  const plait_open_options options = double_options(shape);
  const plait_const_part sources[2] = {{transposed, sizeof transposed, transposed_strides},
                                       {reversed[2], PLAIT_UNKNOWN, reversed_strides}};
  file = open_scratch("again.bin", "w", &options);
  CHECK_OK(plait_write_parts(file, layout, sources, 2, NULL));
  CHECK_OK(plait_close(&file));
  check_raw("again.bin", 6, 4, 0);
  CHECK_OK(plait_layout_free(&layout));
}

void file_regions(void) {
  const struct oracle whole = {{{WHOLE, 0, 9, 1}, {WHOLE, 0, 8, 1}}, 0};
  write_file("region.npy", &whole, NULL);
  /* Rows 1, 4, 7 of columns 2 to 6. */
  const plait_slice box[2] = {{1, 3, 3, 0}, {2, 5, 0, 0}};
  const plait_access access = {sizeof access, box, 2, 0};
  plait_layout* layout = NULL;
  CHECK_OK(plait_layout_parse("3x5 (*, cyclic) onto (2)", &layout));
  double first[3][3];
  double second[3][2];
  const plait_part parts[2] = {{first, sizeof first, NULL}, {second, sizeof second, NULL}};
  plait_file* file = open_scratch("region.npy", "r+", NULL);
  CHECK_OK(plait_read_parts(file, layout, parts, 2, &access));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      CHECK((j % 2 == 0 ? first[i][j / 2] : second[i][j / 2]) == oracle_value((1 + 3 * i) * 8 + 2 + j));
  /* Writes the same elements negated, and then reads one row as an array of one dimension. */
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) first[i][j] = -first[i][j];
    for (int j = 0; j < 2; ++j) second[i][j] = -second[i][j];
  }
  const plait_const_part sources[2] = {{first, sizeof first, NULL}, {second, sizeof second, NULL}};
  CHECK_OK(plait_write_parts(file, layout, sources, 2, &access));
  const plait_slice row[2] = {{4, 1, 1, 1}, {0, 8, 1, 0}};
  const plait_access row_access = {sizeof row_access, row, 2, 0};
  plait_layout* row_layout = NULL;
  double values[8];
  const plait_part row_part = {values, sizeof values, NULL};
  CHECK_OK(plait_layout_parse("8 (*)", &row_layout));
  CHECK_OK(plait_read_parts(file, row_layout, &row_part, 1, &row_access));
  for (int j = 0; j < 8; ++j) CHECK(values[j] == (j >= 2 && j < 7 ? -1 : 1) * oracle_value(4 * 8 + j));
  char* text = NULL;
  CHECK_OK(plait_explain(file, row_layout, &row_access, 0, &text));
  CHECK_CONTAINS(text, "region.npy");
  CHECK_OK(plait_text_free(&text));
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&row_layout));
  CHECK_OK(plait_layout_free(&layout));
}

void file_halo(void) {
  const struct oracle whole = {{{WHOLE, 0, 6, 1}, {WHOLE, 0, 4, 1}}, 0};
  write_file("halo.npy", &whole, NULL);
  plait_layout* layout = NULL;
  CHECK_OK(plait_layout_parse("6x4 (block, *) onto (2) halo=(1, 0)", &layout));
  double values[2][5][4];
  for (int r = 0; r < 2; ++r)
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 4; ++j) values[r][i][j] = -1;
  const plait_part parts[2] = {{values[0], sizeof values[0], NULL}, {values[1], sizeof values[1], NULL}};
  const plait_access access = {sizeof access, NULL, 0, 1};
  plait_file* file = open_scratch("halo.npy", "r", NULL);
  CHECK_OK(plait_read(file, layout, values, sizeof values));
  CHECK(values[0][4][0] == -1 && values[1][0][3] == -1);
  CHECK_OK(plait_read_parts(file, layout, parts, 2, &access));
  for (int r = 0; r < 2; ++r)
    for (int i = 0; i < 5; ++i) {
      const int row = 3 * r + i - 1;
      for (int j = 0; j < 4; ++j) CHECK(values[r][i][j] == (row < 0 || row > 5 ? -1 : oracle_value(row * 4 + j)));
    }
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&layout));
}

void file_started(void) {
  const int64_t shape[2] = {40, 30};
  const plait_open_options options = double_options(shape);
  const struct oracle tiles = {{{CYCLIC, 3, 40, 2}, {BLOCK, 0, 30, 3}}, 1};
  const struct oracle rows = {{{BLOCK, 0, 40, 4}, {WHOLE, 0, 30, 1}}, 0};
  plait_layout* source = oracle_layout(&tiles);
  plait_layout* target = oracle_layout(&rows);
  int64_t count = 0;
  double* values = oracle_local_arrays(&tiles, 0, 5, &count);
  double* read_values = allocate(1200 * sizeof *read_values);
  plait_request* writing = NULL;
  plait_request* reading = NULL;
  plait_request* request = NULL;
  int done = -1;
  plait_file* file = open_scratch("started.bin", "w", &options);
  CHECK_OK(plait_start_write(file, source, values, count * 8, &writing));
  CHECK_OK(plait_start_read(file, target, read_values, 9600, &reading));
  CHECK_OK(plait_layout_free(&source));
  CHECK_OK(plait_request_wait(reading));
  CHECK_EQUAL(oracle_count_differences(&rows, 0, 3, read_values), 0);
  CHECK_OK(plait_request_test(writing, &done));
  CHECK_EQUAL(done, 1);
  CHECK_OK(plait_request_wait(writing));
  CHECK_OK(plait_request_wait(writing));
  const plait_part parts[4] = {{read_values, 2400, NULL},
                               {read_values + 300, 2400, NULL},
                               {read_values + 600, 2400, NULL},
                               {read_values + 900, 2400, NULL}};
  memset(read_values, 0, 9600);
  CHECK_OK(plait_start_read_parts(file, target, parts, 4, NULL, &request));
  CHECK_OK(plait_request_free(&request));
  CHECK_EQUAL(oracle_count_differences(&rows, 0, 3, read_values), 0);
  const plait_const_part sources[4] = {{read_values, 2400, NULL},
                                       {read_values + 300, 2400, NULL},
                                       {read_values + 600, 2400, NULL},
                                       {read_values + 900, 2400, NULL}};
  CHECK_OK(plait_start_write_parts(file, target, sources, 4, NULL, &request));
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_request_free(&request));
  CHECK(request == NULL);
  CHECK_OK(plait_request_free(&request));
  check_raw("started.bin", 40, 30, 0);

  /* The error of a started write is returned once: by the wait, the free, or the close. */
  file = open_scratch("started.bin", "r", &options);
  int64_t elements = 0;
  CHECK_OK(plait_start_write(file, target, read_values, 9600, &request));
  CHECK_FAILS(plait_request_elements(request, &elements), PLAIT_ERROR_ARGUMENT, "not of a stream");
  CHECK_FAILS(plait_request_wait(request), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK_CONTAINS(plait_message(request), "open for reading");
  CHECK_OK(plait_request_free(&request));
  CHECK_OK(plait_start_write(file, target, read_values, 9600, &request));
  CHECK_FAILS(plait_request_free(&request), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK(request == NULL);
  CHECK_OK(plait_start_write(file, target, read_values, 9600, &request));
  CHECK_FAILS(plait_close(&file), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK_CONTAINS(plait_message(file), "open for reading");
  CHECK_OK(plait_close(&file));
  CHECK_FAILS(plait_request_wait(request), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK_OK(plait_request_free(&request));
  CHECK_OK(plait_request_free(&writing));
  CHECK_OK(plait_request_free(&reading));
  CHECK_OK(plait_layout_free(&target));
  free(values);
  free(read_values);
}

void file_properties(void) {
  const struct oracle whole = {{{WHOLE, 0, 6, 1}, {WHOLE, 0, 4, 1}}, 0};
  write_file("tells.npy", &whole, "F");
  plait_file* file = open_scratch("tells.npy", "r", NULL);
  plait_layout* layout = oracle_layout(&whole);
  int dimensions = 0;
  int64_t shape[2];
  int64_t bytes = 0;
  char* dtype = NULL;
  char order = ' ';
  double values[24];
  double io = -1;
  double total = -1;
  CHECK_OK(plait_file_dimensions(file, &dimensions));
  CHECK_EQUAL(dimensions, 2);
  CHECK_OK(plait_file_shape(file, 2, shape));
  CHECK(shape[0] == 6 && shape[1] == 4);
  CHECK_OK(plait_file_element_bytes(file, &bytes));
  CHECK_EQUAL(bytes, 8);
  CHECK_OK(plait_file_dtype(file, &dtype));
  CHECK(strcmp(dtype, "<f8") == 0);
  CHECK_OK(plait_text_free(&dtype));
  CHECK_OK(plait_file_order(file, &order));
  CHECK(order == 'F');
  CHECK_OK(plait_read(file, layout, values, PLAIT_UNKNOWN));
  CHECK_EQUAL(oracle_count_differences(&whole, 0, 0, values), 0);
  CHECK_OK(plait_file_times(file, &io, NULL, NULL, &total));
  CHECK(io >= 0 && total > 0);
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&layout));
}

void file_discarded(void) {
  const int64_t shape[2] = {6, 4};
  const plait_open_options options = double_options(shape);
  plait_file* file = open_scratch("discarded.npy", "w", &options);
  CHECK_OK(plait_abandon(&file));
  CHECK(file == NULL);
  CHECK_OK(plait_abandon(&file));
  CHECK_FAILS(plait_open(scratch("discarded.npy"), "r", plait_alone(), NULL, &file), PLAIT_ERROR_SYSTEM,
              "discarded.npy");
  CHECK(plait_system_code(NULL) == 2); /* ENOENT */
}

void file_in_chunks(void) {
  const int64_t shape[2] = {6, 4};
  const int64_t chunk[2] = {4, 3};
  const int64_t shard[2] = {8, 6};
  const char* const names[2] = {"y", "x"};
  const double values[24] = {1, 2, 3, 4, 5, 6};
  double read_values[24] = {0};
  for (int in_shards = 0; in_shards < 2; ++in_shards) {
    plait_open_options options = double_options(shape);
    plait_layout* layout = NULL;
    char* text = NULL;
    options.chunk = chunk;
    options.shard = in_shards ? shard : NULL;
    options.codec = "zstd:3";
    options.fill_value = "NaN";
    options.dimension_names = names;
    plait_file* file = open_scratch("chunks.zarr", "w", &options);
    CHECK_OK(plait_layout_parse("6x4 (*, *)", &layout));
    CHECK_OK(plait_write(file, layout, values, sizeof values));
    CHECK_OK(plait_close(&file));
    file = open_scratch("chunks.zarr", "r", NULL);
    CHECK_OK(plait_read(file, layout, read_values, sizeof read_values));
    for (int n = 0; n < 24; ++n) CHECK(read_values[n] == values[n]);
    CHECK_OK(plait_explain(file, layout, NULL, 0, &text));
    CHECK(strstr(text, "chunks of 96 B, zstd") != NULL);
    CHECK((strstr(text, "in shards of 8x6") != NULL) == in_shards);
    plait_text_free(&text);
    CHECK_OK(plait_close(&file));
    CHECK_OK(plait_layout_free(&layout));
  }
  plait_open_options options = double_options(shape);
  plait_file* file = NULL;
  options.codec = "lzma";
  CHECK_FAILS(plait_open(scratch("chunks.zarr"), "w", plait_alone(), &options, &file), PLAIT_ERROR_ARGUMENT, "lzma");
}

void file_grows(void) {
  const int64_t none[2] = {0, 3};
  const int64_t larger[2] = {5, 4};
  const double rows[6] = {1, 2, 3, 4, 5, 6};
  double read_values[20];
  plait_open_options options = double_options(none);
  plait_layout* block = NULL;
  plait_layout* whole = NULL;
  CHECK_OK(plait_layout_parse("2x3 (*, *)", &block));
  CHECK_OK(plait_layout_parse("5x4 (*, *)", &whole));
  for (int round = 0; round < 2; ++round) {
    plait_file* file = open_scratch("grows.zarr", "a", &options);
    CHECK_OK(plait_append(file, block, rows, sizeof rows, 0));
    CHECK_FAILS(plait_append(file, block, rows, sizeof rows, 2), PLAIT_ERROR_ARGUMENT, "axis 2");
    CHECK_FAILS(plait_resize(file, 1, larger), PLAIT_ERROR_ARGUMENT, "as many sizes");
    CHECK_OK(plait_close(&file));
  }
  plait_file* file = open_scratch("grows.zarr", "a", &options);
  CHECK_OK(plait_resize(file, 2, larger));
  CHECK_OK(plait_close(&file));
  file = open_scratch("grows.zarr", "r", NULL);
  CHECK_OK(plait_read(file, whole, read_values, sizeof read_values));
  for (int n = 0; n < 20; ++n) {
    const int row = n / 4;
    const int column = n % 4;
    CHECK(read_values[n] == (row < 4 && column < 3 ? rows[row % 2 * 3 + column] : 0));
  }
  CHECK_OK(plait_close(&file));
  file = open_scratch("grows.npy", "w", &options);
  CHECK_FAILS(plait_append(file, block, rows, sizeof rows, 0), PLAIT_ERROR_ARGUMENT, "cannot grow while it is new");
  CHECK_OK(plait_close(&file));
  file = open_scratch("grows.npy", "a", NULL);
  CHECK_OK(plait_append(file, block, rows, sizeof rows, 0));
  CHECK_OK(plait_close(&file));
  file = open_scratch("grows.npy", "r", NULL);
  CHECK_OK(plait_read(file, block, read_values, sizeof rows));
  for (int n = 0; n < 6; ++n) CHECK(read_values[n] == rows[n]);
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&whole));
  CHECK_OK(plait_layout_free(&block));
}

/* Mode "a" adds an array that an existing HDF5 file lacks. */
void file_adds(void) {
  const int64_t shape[2] = {2, 3};
  const int64_t chunk[2] = {1, 2};
  const char* const names[2] = {"y", "x"};
  const double rows[6] = {1, 2, 3, 4, 5, 6};
  double read_values[6];
  plait_open_options options = double_options(shape);
  plait_layout* block = NULL;
  plait_file* file = NULL;
  CHECK_OK(plait_layout_parse("2x3 (*, *)", &block));
  for (int round = 0; round < 3; ++round) {
    if (round == 2) options.chunk = chunk, options.codec = "gzip:1", options.dimension_names = names;
    file = open_scratch(round == 0   ? "adds.h5::/first"
                        : round == 1 ? "adds.h5::/g/second"
                                     : "adds.h5::/third",
                        round == 0 ? "w" : "a", &options);
    CHECK_OK(plait_write(file, block, rows, sizeof rows));
    CHECK_OK(plait_close(&file));
  }
  CHECK_FAILS(plait_open(scratch("adds.h5::/g"), "a", plait_alone(), &options, &file), PLAIT_ERROR_ARGUMENT,
              "is a group");
  for (int round = 0; round < 3; ++round) {
    file = open_scratch(round == 0   ? "adds.h5::/first"
                        : round == 1 ? "adds.h5::/g/second"
                                     : "adds.h5::/third",
                        "r", NULL);
    CHECK_OK(plait_read(file, block, read_values, sizeof read_values));
    for (int n = 0; n < 6; ++n) CHECK(read_values[n] == rows[n]);
    CHECK_OK(plait_close(&file));
  }
  CHECK_OK(plait_layout_free(&block));
}
