/* Errors of opening and of accesses: their status and message, and to which handle a message belongs. */
#include <plait.h>
#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "oracle.h"

static const int64_t shape[2] = {6, 4};

/* Checks that opening fails with a status and a message, and sets the handle to NULL. */
static void check_open_fails(const char* name, const char* mode, const plait_open_options* options, int status,
                             const char* words) {
  plait_file* file = (plait_file*)(void*)scratch_folder; /* any address but NULL */
  CHECK_FAILS(plait_open(name == NULL ? NULL : scratch(name), mode, plait_alone(), options, &file), status, words);
  CHECK(file == NULL);
}

void open_errors(void) {
  plait_open_options options = double_options(shape);
  plait_file* file = NULL;
  check_open_fails("missing.npy", "r", NULL, PLAIT_ERROR_SYSTEM, "missing.npy");
  check_open_fails("x.h4", "w", &options, PLAIT_ERROR_ARGUMENT, "HDF4 files");
  CHECK_FAILS(plait_open("distnt:x", "w", plait_alone(), &options, &file), PLAIT_ERROR_ARGUMENT, "distant:x?");
  CHECK_FAILS(plait_open("raw:distnt:x", "r", plait_alone(), &options, &file), PLAIT_ERROR_SYSTEM, "No such file");
  file = NULL;
  check_open_fails("no/folder.npy", "w", &options, PLAIT_ERROR_SYSTEM, "folder.npy");
  check_open_fails(NULL, "r", NULL, PLAIT_ERROR_ARGUMENT, "url is NULL");
  check_open_fails("x.npy", NULL, NULL, PLAIT_ERROR_ARGUMENT, "mode is NULL");
  check_open_fails("x.npy", "x", NULL, PLAIT_ERROR_ARGUMENT, "\"x\" is not known");
  check_open_fails("x.npy", "w", NULL, PLAIT_ERROR_ARGUMENT, "shape and dtype");
  CHECK_FAILS(plait_open(scratch("x.npy"), "r", NULL, NULL, &file), PLAIT_ERROR_ARGUMENT, "comm is NULL");
  CHECK_FAILS(plait_open(scratch("x.npy"), "r", plait_alone(), NULL, NULL), PLAIT_ERROR_ARGUMENT, "file is NULL");
  options.dimensions = 33;
  check_open_fails("x.npy", "w", &options, PLAIT_ERROR_ARGUMENT, "33 dimensions");
  options = double_options(shape);
  options.shape = NULL;
  check_open_fails("x.npy", "w", &options, PLAIT_ERROR_ARGUMENT, "shape is NULL");
  options = double_options(shape);
  options.order = "K";
  check_open_fails("x.npy", "w", &options, PLAIT_ERROR_ARGUMENT, "\"K\"");
  options = double_options(shape);
  options.strategy = "best";
  check_open_fails("x.npy", "w", &options, PLAIT_ERROR_ARGUMENT, "\"best\"");
  options = double_options(shape);
  options.memory = -1;
  check_open_fails("x.npy", "w", &options, PLAIT_ERROR_ARGUMENT, "memory=-1");
  options = double_options(shape);
  options.dtype = "<f9x";
  check_open_fails("x.npy", "w", &options, PLAIT_ERROR_ARGUMENT, "<f9x");
}

void options_of_other_versions(void) {
  /* The options of a later version, which have one field more. */
  struct {
    plait_open_options known;
    int64_t new_field;
  } larger;
  plait_open_options options = double_options(shape);
  plait_file* file = NULL;
  options.size = 0;
  check_open_fails("x.npy", "w", &options, PLAIT_ERROR_ARGUMENT, "sizeof(plait_open_options)");
  options.size = (size_t)-1;
  check_open_fails("x.npy", "w", &options, PLAIT_ERROR_ARGUMENT, "sizeof(plait_open_options)");
  memset(&larger, 0, sizeof larger);
  larger.known = double_options(shape);
  larger.known.size = sizeof larger;
  CHECK_OK(plait_open(scratch("larger.npy"), "w", plait_alone(), &larger.known, &file));
  CHECK_OK(plait_abandon(&file));
  larger.new_field = 1;
  check_open_fails("x.npy", "w", &larger.known, PLAIT_ERROR_ARGUMENT, "does not know");
}

void access_errors(void) {
  const plait_open_options options = double_options(shape);
  plait_file* file = NULL;
  plait_layout* layout = NULL;
  plait_layout* wrong = NULL;
  plait_request* request = NULL;
  double values[24] = {0};
  const plait_part too_small[2] = {{values, 95, NULL}, {values + 12, 96, NULL}};
  const plait_part incomplete[2] = {{values, 96, NULL}, {NULL, 96, NULL}};
  const int64_t strides[2] = {64, 8};
  const plait_part too_wide[2] = {{values, 96, strides}, {values + 12, 96, NULL}};
  char* text = NULL;
  int64_t number = 0;
  plait_access access = {sizeof access, NULL, 0, 0};
  CHECK_OK(plait_layout_parse("6x4 (block, *) onto (2)", &layout));
  CHECK_OK(plait_layout_parse("6x5 (block, *) onto (2)", &wrong));
  CHECK_OK(plait_open(scratch("errors.npy"), "w", plait_alone(), &options, &file));
  CHECK_FAILS(plait_read(NULL, layout, values, 192), PLAIT_ERROR_ARGUMENT, "file is NULL");
  CHECK_FAILS(plait_read(file, NULL, values, 192), PLAIT_ERROR_ARGUMENT, "layout is NULL");
  CHECK_FAILS(plait_read(file, layout, NULL, 192), PLAIT_ERROR_ARGUMENT, "data is NULL");
  CHECK_FAILS(plait_read(file, layout, values, 191), PLAIT_ERROR_ARGUMENT, "191 bytes, but needs 192");
  CHECK_FAILS(plait_write(file, layout, values, -2), PLAIT_ERROR_ARGUMENT, "-2 bytes");
  CHECK_FAILS(plait_write(file, wrong, values, PLAIT_UNKNOWN), PLAIT_ERROR_ARGUMENT, "6x4");
  CHECK_FAILS(plait_read_parts(file, layout, too_small, 2, NULL), PLAIT_ERROR_ARGUMENT,
              "rank 0 has 95 bytes, but needs 96");
  CHECK_FAILS(plait_read_parts(file, layout, incomplete, 2, NULL), PLAIT_ERROR_ARGUMENT, "rank 1 is NULL");
  CHECK_FAILS(plait_read_parts(file, layout, too_wide, 2, NULL), PLAIT_ERROR_ARGUMENT, "needs 160");
  CHECK_FAILS(plait_read_parts(file, layout, too_small, 1, NULL), PLAIT_ERROR_ARGUMENT, "1 local arrays");
  CHECK_FAILS(plait_read_parts(file, layout, NULL, 2, NULL), PLAIT_ERROR_ARGUMENT, "parts is NULL");
  CHECK_FAILS(plait_read_parts(file, layout, too_small, -1, NULL), PLAIT_ERROR_ARGUMENT, "-1");
  access.slices = 2;
  CHECK_FAILS(plait_read_parts(file, layout, incomplete, 2, &access), PLAIT_ERROR_ARGUMENT, "is NULL");
  const plait_slice outside[2] = {{0, 7, 1, 0}, {0, 4, 1, 0}};
  const plait_part valid[2] = {{values, 96, NULL}, {values + 12, 96, NULL}};
  access.region = outside;
  CHECK_FAILS(plait_read_parts(file, layout, valid, 2, &access), PLAIT_ERROR_ARGUMENT, "dimension 0");
  access.slices = 99;
  CHECK_FAILS(plait_read_parts(file, layout, valid, 2, &access), PLAIT_ERROR_ARGUMENT, "99 slices");
  access.size = 1;
  CHECK_FAILS(plait_read_parts(file, layout, valid, 2, &access), PLAIT_ERROR_ARGUMENT, "sizeof(plait_access)");
  CHECK_FAILS(plait_start_read(file, layout, values, 192, NULL), PLAIT_ERROR_ARGUMENT, "request is NULL");
  CHECK_FAILS(plait_start_write(file, layout, values, 4, &request), PLAIT_ERROR_ARGUMENT, "4 bytes");
  CHECK(request == NULL);
  CHECK_FAILS(plait_explain(file, NULL, NULL, 0, &text), PLAIT_ERROR_ARGUMENT, "layout is NULL");
  CHECK_FAILS(plait_explain(file, layout, NULL, 0, NULL), PLAIT_ERROR_ARGUMENT, "text is NULL");
  CHECK_FAILS(plait_file_shape(file, 1, &number), PLAIT_ERROR_ARGUMENT, "room for 1");
  CHECK_FAILS(plait_file_dtype(file, NULL), PLAIT_ERROR_ARGUMENT, "dtype is NULL");
  CHECK_FAILS(plait_file_fail(file, "all is wrong"), PLAIT_ERROR_ARGUMENT, "all is wrong");
  CHECK_FAILS(plait_comm_fail(plait_alone(), "all is bad"), PLAIT_ERROR_ARGUMENT, "all is bad");
  CHECK_FAILS(plait_comm_fail(plait_alone(), NULL), PLAIT_ERROR_ARGUMENT, "wrong arguments");
  CHECK_OK(plait_write(file, layout, values, sizeof values)); /* the file is still usable */
  CHECK_OK(plait_close(&file));
  CHECK_FAILS(plait_close(&file), PLAIT_ERROR_ARGUMENT, "file is NULL");
  CHECK_FAILS(plait_close(NULL), PLAIT_ERROR_ARGUMENT, "file is NULL");
  CHECK_OK(plait_open(scratch("errors.npy"), "r", plait_alone(), NULL, &file));
  CHECK_FAILS(plait_write(file, layout, values, 192), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK_OK(plait_close(&file));
  CHECK_FAILS(plait_request_wait(NULL), PLAIT_ERROR_ARGUMENT, "request is NULL");
  CHECK_FAILS(plait_request_test(NULL, NULL), PLAIT_ERROR_ARGUMENT, "NULL");
  CHECK_OK(plait_layout_free(&wrong));
  CHECK_OK(plait_layout_free(&layout));
}

void messages_belong_to_handles(void) {
  const plait_open_options options = double_options(shape);
  plait_file* file = NULL;
  plait_file* other = NULL;
  plait_layout* layout = NULL;
  int64_t number = 0;
  CHECK_OK(plait_layout_parse("6x4 (*, *)", &layout));
  CHECK_OK(plait_open(scratch("one.npy"), "w", plait_alone(), &options, &file));
  CHECK_OK(plait_open(scratch("other.npy"), "w", plait_alone(), &options, &other));
  CHECK(strcmp(plait_message(file), "") == 0 && plait_system_code(file) == 0);
  CHECK_FAILS(plait_file_fail(file, "first"), PLAIT_ERROR_ARGUMENT, "first");
  CHECK_FAILS(plait_file_fail(other, "second"), PLAIT_ERROR_ARGUMENT, "second");
  CHECK_CONTAINS(plait_message(file), "first");
  CHECK_CONTAINS(plait_message(other), "second");
  CHECK(strcmp(plait_message(layout), "") == 0);
  CHECK_FAILS(plait_layout_shape(layout, 1, &number), PLAIT_ERROR_ARGUMENT, "room for 1");
  CHECK_CONTAINS(plait_message(layout), "room for 1");
  CHECK_CONTAINS(plait_message(file), "first");
  CHECK(plait_system_code(layout) == 0);
  CHECK_OK(plait_abandon(&file));
  CHECK_OK(plait_abandon(&other));
  CHECK_OK(plait_layout_free(&layout));
}
