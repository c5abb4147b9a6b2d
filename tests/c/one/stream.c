/* Streams in one process: every mode, and errors. */
#include <plait.h>
#include <stdlib.h>

#include "cases.h"
#include "check.h"

/* Writes a file of the numbers 0, 1, ... and opens it. */
static plait_file* open_numbers(const char* name, int64_t count, const char* mode) {
  plait_open_options options;
  plait_file* file = NULL;
  plait_layout* layout = NULL;
  int32_t* values = allocate((size_t)count * sizeof *values);
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.shape = &count;
  options.dimensions = 1;
  options.dtype = "<i4";
  for (int64_t n = 0; n < count; ++n) values[n] = (int32_t)n;
  CHECK_OK(plait_layout_parse_shape("(*)", 1, &count, &layout));
  CHECK_OK(plait_open(scratch(name), "w", plait_alone(), &options, &file));
  CHECK_OK(plait_write(file, layout, values, count * 4));
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&layout));
  CHECK_OK(plait_open(scratch(name), mode, plait_alone(), NULL, &file));
  free(values);
  return file;
}

void stream_modes_alone(void) {
  plait_file* file = open_numbers("stream.npy", 10, "r+");
  for (int mode = PLAIT_STREAM_OWN; mode <= PLAIT_STREAM_SAME; ++mode) {
    plait_stream* stream = NULL;
    plait_request* request = NULL;
    int32_t values[6] = {-1, -1, -1, -1, -1, -1};
    int64_t done = -1;
    int64_t position = -1;
    CHECK_OK(plait_stream_open(file, mode, &stream));
    CHECK_OK(plait_stream_read(stream, values, 4, &done));
    CHECK(done == 4 && values[0] == 0 && values[3] == 3 && values[4] == -1);
    CHECK_OK(plait_stream_tell(stream, &position));
    CHECK_EQUAL(position, 4);
    CHECK_OK(plait_stream_start_read(stream, values, 3, &request));
    CHECK_OK(plait_request_elements(request, &done));
    CHECK(done == 3 && values[0] == 4 && values[2] == 6);
    CHECK_OK(plait_request_free(&request));
    CHECK_OK(plait_stream_read(stream, values, 6, &done)); /* the end */
    CHECK(done == 3 && values[0] == 7 && values[2] == 9);
    CHECK_OK(plait_stream_read(stream, values, 6, &done));
    CHECK_EQUAL(done, 0);
    CHECK_OK(plait_stream_seek(stream, 2));
    const int32_t written[2] = {100 + mode, 200 + mode};
    CHECK_OK(plait_stream_write(stream, written, 2));
    CHECK_OK(plait_stream_start_write(stream, written, 2, &request));
    CHECK_OK(plait_request_wait(request));
    CHECK_OK(plait_request_elements(request, &done));
    CHECK_EQUAL(done, 2);
    CHECK_OK(plait_request_free(&request));
    CHECK_OK(plait_stream_seek(stream, 1));
    CHECK_OK(plait_stream_read(stream, values, 6, &done));
    CHECK(values[0] == 1 && values[1] == written[0] && values[2] == written[1] && values[3] == written[0] &&
          values[4] == written[1] && values[5] == 6);
    /* Restore the values for the next mode. */
    const int32_t before[4] = {2, 3, 4, 5};
    CHECK_OK(plait_stream_seek(stream, 2));
    CHECK_OK(plait_stream_write(stream, before, 4));
    CHECK_OK(plait_stream_close(&stream));
    CHECK(stream == NULL);
    CHECK_OK(plait_stream_close(&stream));
  }
  CHECK_OK(plait_close(&file));
}

void stream_errors(void) {
  plait_file* file = open_numbers("stream_errors.npy", 10, "r");
  plait_stream* stream = NULL;
  plait_request* request = NULL;
  int32_t values[4] = {0};
  int64_t done = 77;
  CHECK_FAILS(plait_stream_open(NULL, 0, &stream), PLAIT_ERROR_ARGUMENT, "file is NULL");
  CHECK_FAILS(plait_stream_open(file, 0, NULL), PLAIT_ERROR_ARGUMENT, "stream is NULL");
  CHECK_FAILS(plait_stream_open(file, 5, &stream), PLAIT_ERROR_ARGUMENT, "mode 5");
  CHECK_FAILS(plait_stream_open(file, -1, &stream), PLAIT_ERROR_ARGUMENT, "mode -1");
  CHECK_FAILS(plait_stream_open(file, 256, &stream), PLAIT_ERROR_ARGUMENT, "mode 256");
  CHECK(stream == NULL);
  CHECK_FAILS(plait_stream_read(NULL, values, 4, &done), PLAIT_ERROR_ARGUMENT, "stream is NULL");
  CHECK_OK(plait_stream_open(file, PLAIT_STREAM_OWN, &stream));
  CHECK_FAILS(plait_stream_read(stream, values, 4, NULL), PLAIT_ERROR_ARGUMENT, "done is NULL");
  CHECK_FAILS(plait_stream_read(stream, NULL, 4, &done), PLAIT_ERROR_ARGUMENT, "is null");
  CHECK_FAILS(plait_stream_read(stream, values, -4, &done), PLAIT_ERROR_ARGUMENT, "-4");
  CHECK_EQUAL(done, 77);
  CHECK_FAILS(plait_stream_write(stream, values, 4), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK_FAILS(plait_stream_start_read(stream, values, 4, NULL), PLAIT_ERROR_ARGUMENT, "request is NULL");
  CHECK_FAILS(plait_stream_start_read(stream, values, -1, &request), PLAIT_ERROR_ARGUMENT, "-1");
  CHECK(request == NULL);
  CHECK_FAILS(plait_stream_seek(stream, 11), PLAIT_ERROR_ARGUMENT, "11");
  CHECK_FAILS(plait_stream_tell(stream, NULL), PLAIT_ERROR_ARGUMENT, "element is NULL");
  CHECK_FAILS(plait_stream_fail(stream, "no"), PLAIT_ERROR_ARGUMENT, "no");
  CHECK_CONTAINS(plait_message(stream), "no");
  CHECK_OK(plait_stream_tell(stream, &done));
  CHECK_EQUAL(done, 0);
  CHECK_OK(plait_close(&file));
  CHECK_FAILS(plait_stream_read(stream, values, 4, &done), PLAIT_ERROR_ARGUMENT, "closed");
  CHECK_OK(plait_stream_close(&stream));

  file = open_numbers("stream_errors.npy", 10, "r+");
  CHECK_OK(plait_stream_open(file, PLAIT_STREAM_ORDERED, &stream));
  CHECK_OK(plait_stream_seek(stream, 8));
  CHECK_FAILS(plait_stream_write(stream, values, 3), PLAIT_ERROR_ARGUMENT, "nothing was written");
  CHECK_OK(plait_abandon(&file));
  CHECK_FAILS(plait_stream_read(stream, values, 4, &done), PLAIT_ERROR_ARGUMENT, "closed");
  CHECK_OK(plait_stream_close(&stream));
}
