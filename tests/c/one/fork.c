/* Handles in a forked child, and new files that are not closed when the program ends. */
#include <plait.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "check.h"

/* LeakSanitizer calls this function before it looks for leaks.  In a child it would wait for locks of the allocator
 * that another thread of the parent held at the fork. */
static int is_child = 0;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return is_child; }

/* Uses the parent's handles in a forked child.  Returns the child's exit status: 7 if all calls fail as they should. */
static int use_inherited_handles(plait_file* file, plait_request* request, const plait_layout* layout) {
  int32_t values[3] = {0, 0, 0};
  const int all_fail = plait_read(file, layout, values, sizeof values) == PLAIT_ERROR_ARGUMENT &&
                       strstr(plait_message(file), " belongs to process ") != NULL &&
                       plait_request_wait(request) == PLAIT_ERROR_ARGUMENT &&
                       plait_close(&file) == PLAIT_ERROR_ARGUMENT && file != NULL && plait_abandon(&file) == PLAIT_OK;
  return all_fail ? 7 : 1;
}

void forked_child(void) {
  const int64_t count = 3;
  const int32_t values[3] = {1, 2, 3};
  int32_t found[3] = {0, 0, 0};
  int status = 0;
  plait_open_options options;
  plait_file* file = NULL;
  plait_layout* layout = NULL;
  plait_request* request = NULL;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.shape = &count;
  options.dimensions = 1;
  options.dtype = "<i4";
  CHECK_OK(plait_layout_parse_shape("(*)", 1, &count, &layout));
  CHECK_OK(plait_open(scratch("forked.npy"), "w", plait_alone(), &options, &file));
  CHECK_OK(plait_start_write(file, layout, values, sizeof values, &request));
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    is_child = 1;
    alarm(60);
    exit(use_inherited_handles(file, request, layout)); /* runs the handlers of atexit and the destructors too */
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 7 << 8);
  CHECK_OK(plait_request_free(&request));
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_open(scratch("forked.npy"), "r", plait_alone(), NULL, &file));
  CHECK_OK(plait_read(file, layout, found, sizeof found));
  CHECK(found[0] == 1 && found[2] == 3);
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&layout));
}

void unclosed_at_exit(void) {
  const int64_t count = 3;
  char error_output[400] = "";
  int ends[2];
  int status = 0;
  plait_open_options options;
  plait_file* file = NULL;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.shape = &count;
  options.dimensions = 1;
  options.dtype = "<i4";
  CHECK_EQUAL(pipe(ends), 0);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    is_child = 1;
    alarm(60);
    dup2(ends[1], STDERR_FILENO);
    exit(plait_open(scratch("unclosed.npy"), "w", plait_alone(), &options, &file) == PLAIT_OK ? 5 : 1);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 5 << 8); /* 5 is what the program itself returns */
  CHECK(read(ends[0], error_output, sizeof error_output - 1) > 0);
  CHECK_CONTAINS(error_output,
                 "unclosed.npy was opened in mode w and never closed: nothing was written under that name");
  close(ends[0]);
  close(ends[1]);
  CHECK_FAILS(plait_open(scratch("unclosed.npy"), "r", plait_alone(), NULL, &file), PLAIT_ERROR_SYSTEM, "unclosed.npy");
}
