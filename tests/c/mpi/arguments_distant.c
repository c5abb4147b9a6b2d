/* Wrong arguments of distant files. */
#include <unistd.h>

#include "arguments.h"
#include "cases.h"
#include "check.h"
#include "together.h"

static double values[1];

static plait_status opening_distant(int field, unsigned value) {
  char name[32];
  plait_dio* result = NULL;
  plait_dio_options options = {field == 3 ? wrong_size(value) : sizeof options, 1};
  snprintf(name, sizeof name, "arguments-%d", rank);
  const plait_status status =
      plait_dio_open(field == 0 ? wrong_text(8 + value % 2) : scratch(name), field == 1 ? wrong_text(value) : "w",
                     everyone, &options, field == 2 ? NULL : &result);
  if (status == PLAIT_OK) CHECK_OK(plait_dio_close(&result));
  return status;
}

void mpi_wrong_distant(void) {
  seed = 5;
  try_call("plait_dio_open", opening_distant, 4, 8);
  plait_dio* dio = NULL;
  plait_dio* result = NULL;
  plait_request* request = NULL;
  int64_t bytes = 0;
  char name[32];
  snprintf(name, sizeof name, "distant-%d", rank);
  alarm(SECONDS);
  CHECK_OK(plait_dio_open(scratch(name), "w", everyone, NULL, &dio));
  for (unsigned value = 0; value < 7; ++value) {
    const int64_t wrong = wrong_number(value);
    const int server = value % 2 == 0 ? rank : (rank + 1) % ranks;
    CHECK(plait_dio_read(dio, wrong, values, 8, server, NULL) != PLAIT_OK);
    CHECK(plait_dio_read(dio, 0, values, wrong < 0 ? wrong : INT64_MAX, server, &request) != PLAIT_OK ||
          request != NULL);
    if (request != NULL) CHECK(plait_dio_wait(&request) != PLAIT_OK);
    CHECK(plait_dio_write(dio, wrong < 0 ? wrong : INT64_MAX - 3, values, 8, server, NULL) != PLAIT_OK);
    CHECK(plait_dio_write(dio, 0, NULL, 8, server, NULL) != PLAIT_OK);
    CHECK(plait_dio_size(dio, wrong_int(value), &bytes) != PLAIT_OK);
    CHECK(plait_dio_sync(dio, wrong_int(value), NULL) != PLAIT_OK);
    CHECK(plait_dio_resize(dio, wrong < 0 ? wrong : 0, wrong < 0 ? server : -1) != PLAIT_OK);
    CHECK(plait_dio_find(wrong_text(value), everyone, &result) != PLAIT_OK);
    CHECK(plait_dio_offer(wrong_text(value % 3), NULL, "w", everyone, NULL, &result) != PLAIT_OK);
  }
  CHECK(plait_dio_size(dio, rank, NULL) != PLAIT_OK);
  CHECK(plait_dio_waitall(&request, -1) != PLAIT_OK);
  CHECK_OK(plait_dio_write(dio, 0, values, 8, rank, NULL));
  CHECK_OK(plait_dio_close(&dio));
  alarm(0);
}
