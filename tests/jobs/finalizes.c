/* Calls MPI_Finalize while Plait still works in the background.
 * argv[1]: the pending operations: started, thread, callback, abandoned, stream or "stream closed"
 * argv[2]: a new file
 * argv[3]: the milliseconds by which rank 1 begins its operations after the others.  These call MPI_Finalize after half
 *          of that time, when their threads that wait for rank 1 are inside MPI. */
#define _GNU_SOURCE
#include <plait_mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 512 };

static double values[SIDE * SIDE];
static plait_comm* comm;
static plait_file* file;
static plait_layout* layout;
static plait_stream* stream;
static plait_request* request;
static int rank;
static useconds_t delay;

static void check(plait_status status, const char* operations) {
  if (status == PLAIT_OK) return;
  fprintf(stderr, "rank %d, %s: %s\n", rank, operations, plait_message(NULL));
  exit(4);
}

static plait_file* open_new(const char* name, plait_comm* file_comm) {
  static const int64_t shape[2] = {SIDE, SIDE};
  plait_open_options options;
  plait_file* opened = NULL;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.shape = shape;
  options.dimensions = 2;
  options.dtype = "<f8";
  options.memory = 1 << 16;
  options.strategy = "two-phase";
  check(plait_open(name, "w", file_comm, &options, &opened), "open");
  return opened;
}

static void start_write(void) {
  if (rank == 1) usleep(delay);
  check(plait_start_write(file, layout, values, sizeof values, &request), "start");
  if (rank != 1) usleep(delay / 2);
}

static int close_all(MPI_Comm communicator, int key, void* value, void* state) {
  (void)communicator, (void)key, (void)value, (void)state;
  check(plait_request_free(&request), "wait");
  check(plait_close(&file), "close");
  return MPI_SUCCESS;
}

static void* finalize(void* unused) {
  (void)unused;
  MPI_Finalize();
  return NULL;
}

/* Abandons files of several communicators.  For each, a thread of Plait notifies the other ranks. */
static void abandon_all(const char* name) {
  for (int i = 0; i < 3; ++i) {
    MPI_Comm duplicate = MPI_COMM_NULL;
    plait_comm* duplicate_comm = NULL;
    char path[4096];
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    check(plait_comm_from_mpi(duplicate, &duplicate_comm), "communicator");
    snprintf(path, sizeof path, "%s.%d", name, i);
    plait_file* abandoned = open_new(path, duplicate_comm);
    if (rank == 1) usleep(delay / 3);
    check(plait_abandon(&abandoned), "abandon");
    check(plait_comm_free(&duplicate_comm), "free");
  }
  if (rank != 1) usleep(delay / 2);
}

static void use_stream(const char* name, bool closes) {
  plait_stream* shared = NULL;
  double value = rank;
  check(plait_close(&file), "close");
  check(plait_open(name, "r+", comm, NULL, &file), "open again");
  check(plait_stream_open(file, PLAIT_STREAM_SHARED, &shared), "open a stream");
  check(plait_stream_write(shared, &value, 1), "write");
  usleep(rank == 1 ? delay : delay / 2);
  if (closes) check(plait_stream_close(&shared), "close a stream");
  stream = shared; /* NULL if closed, otherwise still open in MPI_Finalize */
}

int main(int argc, char** argv) {
  int threads = 0;
  char text[128];
  int ranks = 0;
  if (argc != 4) return 2;
  const char* operations = argv[1];
  delay = (useconds_t)(1000 * atoi(argv[3]));
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(plait_comm_from_mpi(MPI_COMM_WORLD, &comm), "communicator");
  snprintf(text, sizeof text, "%dx%d (*, cyclic) onto (%d)", SIDE, SIDE, ranks);
  check(plait_layout_parse(text, &layout), "layout");
  file = open_new(argv[2], comm);
  if (strcmp(operations, "started") == 0) {
    start_write();
  } else if (strcmp(operations, "thread") == 0) { /* MPI_Finalize on another thread */
    pthread_t thread;
    start_write();
    return pthread_create(&thread, NULL, finalize, NULL) != 0 || pthread_join(thread, NULL) != 0;
  } else if (strcmp(operations, "callback") == 0) { /* the program closes its files in MPI_Finalize */
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_all, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    start_write();
  } else if (strcmp(operations, "abandoned") == 0) {
    abandon_all(argv[2]);
    check(plait_abandon(&file), "abandon");
  } else if (strcmp(operations, "stream") == 0 || strcmp(operations, "stream closed") == 0) {
    use_stream(argv[2], strcmp(operations, "stream") != 0);
  } else {
    return 3;
  }
  MPI_Finalize();
  return 0;
}
