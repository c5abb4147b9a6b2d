#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "together.h"

enum { EACH = 5 };

/* A new file of EACH zeros per rank and two more. */
static plait_file* zeros(const char* name) {
  const int64_t count = EACH * (int64_t)ranks + 2;
  plait_open_options options;
  plait_file* file = NULL;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.shape = &count;
  options.dimensions = 1;
  options.dtype = "<i4";
  CHECK_OK(plait_open(scratch(name), "w", everyone, &options, &file));
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_open(scratch(name), "r+", everyone, NULL, &file));
  return file;
}

/* Every rank reads the whole array. */
static void read_whole(plait_file* file, int32_t* values) {
  const int64_t count = EACH * (int64_t)ranks + 2;
  plait_stream* stream = NULL;
  int64_t done = 0;
  CHECK_OK(plait_stream_open(file, PLAIT_STREAM_SAME, &stream));
  CHECK_OK(plait_stream_read(stream, values, count + 3, &done));
  CHECK_EQUAL(done, count);
  CHECK_OK(plait_stream_close(&stream));
}

void mpi_stream_modes(void) {
  const int64_t count = EACH * (int64_t)ranks + 2;
  int32_t* values = allocate((size_t)(count + 3) * sizeof *values);
  int32_t mine[EACH];
  for (int n = 0; n < EACH; ++n) mine[n] = 10 * rank + n + 1;
  for (int mode = PLAIT_STREAM_OWN; mode <= PLAIT_STREAM_EQUAL; ++mode) {
    plait_file* file = zeros("modes.npy");
    plait_stream* stream = NULL;
    int64_t at = 0;
    /* Different lengths where the mode allows them: the last rank writes two more elements, the first one two fewer. */
    const int more = mode == PLAIT_STREAM_ORDERED && ranks > 1 ? (rank == ranks - 1) * 2 - (rank == 0) * 2 : 0;
    int32_t longer[EACH + 2];
    for (int n = 0; n < EACH + 2; ++n) longer[n] = 10 * rank + n + 1;
    CHECK_OK(plait_stream_open(file, mode, &stream));
    if (mode == PLAIT_STREAM_OWN) CHECK_OK(plait_stream_seek(stream, EACH * (int64_t)rank));
    if (more != 0) {
      CHECK_OK(plait_stream_write(stream, longer, EACH + more));
    } else {
      CHECK_OK(plait_stream_write(stream, mine, EACH));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(plait_stream_tell(stream, &at));
    CHECK_EQUAL(at, mode == PLAIT_STREAM_OWN ? EACH * ((int64_t)rank + 1) : EACH * (int64_t)ranks);
    CHECK_OK(plait_stream_close(&stream));
    read_whole(file, values);
    CHECK(values[count - 1] == 0 && values[count - 2] == 0);
    if (mode == PLAIT_STREAM_SHARED) { /* the elements of a rank are contiguous; ranks come in any order */
      bool seen[64] = {false};
      for (int r = 0; r < ranks; ++r) {
        const int32_t who = (values[r * EACH] - 1) / 10;
        CHECK(who >= 0 && who < ranks && !seen[who]);
        if (who >= 0 && who < ranks) seen[who] = true;
        for (int n = 0; n < EACH; ++n) CHECK_EQUAL(values[r * EACH + n], 10 * who + n + 1);
      }
    } else {
      int64_t position = 0;
      for (int r = 0; r < ranks; ++r) {
        int length = EACH;
        if (mode == PLAIT_STREAM_ORDERED && ranks > 1) length += (r == ranks - 1) * 2 - (r == 0) * 2;
        for (int n = 0; n < length; ++n) CHECK_EQUAL(values[position++], 10 * r + n + 1);
      }
    }
    CHECK_OK(plait_close(&file));
  }

  plait_file* file = zeros("modes.npy");
  plait_stream* stream = NULL;
  plait_request* request = NULL;
  int64_t done = 0;
  CHECK_OK(plait_stream_open(file, PLAIT_STREAM_SAME, &stream));
  CHECK_OK(plait_stream_start_write(stream, rank == 0 ? mine : NULL, EACH, &request));
  CHECK_OK(plait_request_elements(request, &done));
  CHECK_EQUAL(done, EACH);
  CHECK_OK(plait_request_free(&request));
  CHECK_OK(plait_stream_close(&stream));
  read_whole(file, values);
  for (int n = 0; n < EACH; ++n) CHECK_EQUAL(values[n], n + 1);
  CHECK_OK(plait_close(&file));
  free(values);
}

void mpi_stream_mistakes(void) {
  const bool odd = rank == ranks - 1;
  int32_t values[EACH + 2] = {0};
  int64_t done = 0;
  plait_file* file = zeros("mistakes.npy");
  plait_stream* stream = NULL;
  plait_request* request = NULL;
  ALL_FAIL(plait_stream_open(file, odd ? 9 : PLAIT_STREAM_EQUAL, &stream), PLAIT_ERROR_ARGUMENT, "mode 9");
  ALL_FAIL(plait_stream_open(file, PLAIT_STREAM_EQUAL, odd ? NULL : &stream), PLAIT_ERROR_ARGUMENT, "stream is NULL");
  CHECK(stream == NULL);
  CHECK_OK(plait_stream_open(file, PLAIT_STREAM_EQUAL, &stream));
  if (ranks > 1) ALL_FAIL(plait_stream_write(stream, values, odd ? EACH + 1 : EACH), PLAIT_ERROR_ARGUMENT, "");
  ALL_FAIL(plait_stream_read(stream, odd ? NULL : values, EACH, &done), PLAIT_ERROR_ARGUMENT, "is null");
  ALL_FAIL(plait_stream_read(stream, values, EACH, odd ? NULL : &done), PLAIT_ERROR_ARGUMENT, "done is NULL");
  plait_status status = plait_stream_start_read(stream, values, EACH, odd ? NULL : &request);
  if (!odd) status = plait_request_free(&request);
  ALL_FAIL(status, PLAIT_ERROR_ARGUMENT, "request is NULL");
  ALL_FAIL(odd ? plait_stream_fail(stream, "not now") : plait_stream_seek(stream, 3), PLAIT_ERROR_ARGUMENT, "not now");
  CHECK_CONTAINS(plait_message(stream), "not now");
  CHECK_OK(plait_stream_tell(stream, &done));
  CHECK_EQUAL(done, 0);
  CHECK_OK(plait_stream_read(stream, values, EACH, &done)); /* the stream is still usable */
  CHECK_EQUAL(done, EACH);
  CHECK_OK(plait_stream_close(&stream));
  CHECK_OK(plait_close(&file));
}
