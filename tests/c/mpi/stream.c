/* Streams of several ranks: the elements that each mode gives to each rank, and mistakes of one rank. */
#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "together.h"

enum { PER_RANK = 5 };

/* Makes a file of PER_RANK zeros for each rank and two more, and opens it. */
static plait_file* open_zeros(const char* name) {
  const int64_t count = PER_RANK * (int64_t)ranks + 2;
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
  const int64_t count = PER_RANK * (int64_t)ranks + 2;
  plait_stream* stream = NULL;
  int64_t done = 0;
  CHECK_OK(plait_stream_open(file, PLAIT_STREAM_SAME, &stream));
  CHECK_OK(plait_stream_read(stream, values, count + 3, &done));
  CHECK_EQUAL(done, count);
  CHECK_OK(plait_stream_close(&stream));
}

void mpi_stream_modes(void) {
  const int64_t count = PER_RANK * (int64_t)ranks + 2;
  int32_t* values = allocate((size_t)(count + 3) * sizeof *values);
  int32_t written[PER_RANK];
  for (int n = 0; n < PER_RANK; ++n) written[n] = 10 * rank + n + 1;
  for (int mode = PLAIT_STREAM_OWN; mode <= PLAIT_STREAM_EQUAL; ++mode) {
    plait_file* file = open_zeros("modes.npy");
    plait_stream* stream = NULL;
    int64_t position_after = 0;
    /* Different lengths where the mode allows them: the last rank writes two more elements, the first one two fewer. */
    const int more = mode == PLAIT_STREAM_ORDERED && ranks > 1 ? (rank == ranks - 1) * 2 - (rank == 0) * 2 : 0;
    int32_t longer[PER_RANK + 2];
    for (int n = 0; n < PER_RANK + 2; ++n) longer[n] = 10 * rank + n + 1;
    CHECK_OK(plait_stream_open(file, mode, &stream));
    if (mode == PLAIT_STREAM_OWN) CHECK_OK(plait_stream_seek(stream, PER_RANK * (int64_t)rank));
    if (more != 0) {
      CHECK_OK(plait_stream_write(stream, longer, PER_RANK + more));
    } else {
      CHECK_OK(plait_stream_write(stream, written, PER_RANK));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(plait_stream_tell(stream, &position_after));
    CHECK_EQUAL(position_after, mode == PLAIT_STREAM_OWN ? PER_RANK * ((int64_t)rank + 1) : PER_RANK * (int64_t)ranks);
    CHECK_OK(plait_stream_close(&stream));
    read_whole(file, values);
    CHECK(values[count - 1] == 0 && values[count - 2] == 0);
    if (mode == PLAIT_STREAM_SHARED) { /* the elements of a rank are contiguous; ranks come in any order */
      bool has_written[64] = {false};
      for (int r = 0; r < ranks; ++r) {
        const int32_t writer = (values[r * PER_RANK] - 1) / 10;
        CHECK(writer >= 0 && writer < ranks && !has_written[writer]);
        if (writer >= 0 && writer < ranks) has_written[writer] = true;
        for (int n = 0; n < PER_RANK; ++n) CHECK_EQUAL(values[r * PER_RANK + n], 10 * writer + n + 1);
      }
    } else {
      int64_t position = 0;
      for (int r = 0; r < ranks; ++r) {
        int length = PER_RANK;
        if (mode == PLAIT_STREAM_ORDERED && ranks > 1) length += (r == ranks - 1) * 2 - (r == 0) * 2;
        for (int n = 0; n < length; ++n) CHECK_EQUAL(values[position++], 10 * r + n + 1);
      }
    }
    CHECK_OK(plait_close(&file));
  }

  plait_file* file = open_zeros("modes.npy");
  plait_stream* stream = NULL;
  plait_request* request = NULL;
  int64_t done = 0;
  CHECK_OK(plait_stream_open(file, PLAIT_STREAM_SAME, &stream));
  CHECK_OK(plait_stream_start_write(stream, rank == 0 ? written : NULL, PER_RANK, &request));
  CHECK_OK(plait_request_elements(request, &done));
  CHECK_EQUAL(done, PER_RANK);
  CHECK_OK(plait_request_free(&request));
  CHECK_OK(plait_stream_close(&stream));
  read_whole(file, values);
  for (int n = 0; n < PER_RANK; ++n) CHECK_EQUAL(values[n], n + 1);
  CHECK_OK(plait_close(&file));
  free(values);
}

void mpi_stream_mistakes(void) {
  const bool is_wrong = rank == ranks - 1;
  int32_t values[PER_RANK + 2] = {0};
  int64_t done = 0;
  plait_file* file = open_zeros("mistakes.npy");
  plait_stream* stream = NULL;
  plait_request* request = NULL;
  ALL_FAIL(plait_stream_open(file, is_wrong ? 9 : PLAIT_STREAM_EQUAL, &stream), PLAIT_ERROR_ARGUMENT, "mode 9");
  ALL_FAIL(plait_stream_open(file, PLAIT_STREAM_EQUAL, is_wrong ? NULL : &stream), PLAIT_ERROR_ARGUMENT,
           "stream is NULL");
  CHECK(stream == NULL);
  CHECK_OK(plait_stream_open(file, PLAIT_STREAM_EQUAL, &stream));
  if (ranks > 1)
    ALL_FAIL(plait_stream_write(stream, values, is_wrong ? PER_RANK + 1 : PER_RANK), PLAIT_ERROR_ARGUMENT, "");
  ALL_FAIL(plait_stream_read(stream, is_wrong ? NULL : values, PER_RANK, &done), PLAIT_ERROR_ARGUMENT, "is null");
  ALL_FAIL(plait_stream_read(stream, values, PER_RANK, is_wrong ? NULL : &done), PLAIT_ERROR_ARGUMENT, "done is NULL");
  plait_status status = plait_stream_start_read(stream, values, PER_RANK, is_wrong ? NULL : &request);
  if (!is_wrong) status = plait_request_free(&request);
  ALL_FAIL(status, PLAIT_ERROR_ARGUMENT, "request is NULL");
  ALL_FAIL(is_wrong ? plait_stream_fail(stream, "not now") : plait_stream_seek(stream, 3), PLAIT_ERROR_ARGUMENT,
           "not now");
  CHECK_CONTAINS(plait_message(stream), "not now");
  CHECK_OK(plait_stream_tell(stream, &done));
  CHECK_EQUAL(done, 0);
  CHECK_OK(plait_stream_read(stream, values, PER_RANK, &done)); /* the stream is still usable */
  CHECK_EQUAL(done, PER_RANK);
  CHECK_OK(plait_stream_close(&stream));
  CHECK_OK(plait_close(&file));
}
