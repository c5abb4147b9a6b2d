// Communicators of Plait.
//
// Problem: a file needs a communicator of its ranks that has them all, also those that cannot load Plait. Making one
// takes longer than opening a small file.
//
// Idea: it is made when the first file is opened on a communicator, and stored as an attribute of it. MPI calls back
// when the program frees its communicator. Files that are still open then have references to Plait's. Each file has a
// tag, so that messages of two threads do not mix: opens of one communicator have the same order on all ranks. When all
// tags are used, the attribute gets a new communicator.
//
// HDF5 and PnetCDF duplicate a communicator for each file. MPI_COMM_WORLD and its duplicates therefore share one
// communicator of Plait. MPI_Comm_compare recognizes duplicates without messages. Opens on two duplicates have one
// order on all ranks, unless several threads may call MPI at once. In such programs each duplicate has its own
// communicator.
//
// Example: a program opens 1000 files on MPI_COMM_WORLD, or on 1000 duplicates of it, one after another. The first open
// makes a communicator, and MPI_Finalize ends it. If the program splits MPI_COMM_WORLD for each file, each open makes
// one, which MPI_Comm_free frees.

#include "mpiio/preload/communicator.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpiio/preload/calls.h"

enum {
  kTags = 32767,          // the largest tag that each MPI allows
  kSeveralThreads = 1024  // bit of a color, next to those of the mode
};

/// The attribute of a communicator.
struct opens {
  struct plait_mpiio_ranks* ranks;
  int number;
};

static int keyval;
static int has_keyval;
static int is_finalizing;
static int has_world;
static int has_several_threads;

/// What MPI_COMM_WORLD and its duplicates share.
static struct opens* world;
/// Set if they share nothing, since a rank does not use Plait; on all ranks alike.
static int is_world_apart;

// Open MPI has its handles as variables, which must be looked up.
#if defined OPEN_MPI && !defined MPI_ABI_VERSION
#define HANDLE(TYPE, NAME, SYMBOL) ((TYPE)plait_mpiio_variable(SYMBOL))
#else
#define HANDLE(TYPE, NAME, SYMBOL) (NAME)
#endif

static void free_opens(struct opens* opens) {
  plait_mpiio_release(opens->ranks);
  free(opens);
}

static int on_free(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  free_opens(value);
  return MPI_SUCCESS;
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF before all else. Those of MPI_COMM_WORLD may go when the MPI
/// can free communicators no more.
static int on_finalize(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  __atomic_store_n(&is_finalizing, 1, __ATOMIC_RELEASE);
  return MPI_SUCCESS;
}

static void make_keyval(void) {
  FIND(create, MPI_Comm_create_keyval);
  FIND(set, MPI_Comm_set_attr);
  FIND(is_initialized, MPI_Initialized);
  MPI_Comm_copy_attr_function* copy =
      HANDLE(MPI_Comm_copy_attr_function*, MPI_COMM_NULL_COPY_FN, "OMPI_C_MPI_COMM_NULL_COPY_FN");
  FIND(query_threads, MPI_Query_thread);
  int key, is_done = 0, level = MPI_THREAD_MULTIPLE;
  has_several_threads = query_threads(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE;
  has_keyval = create(copy, on_free, &keyval, NULL) == MPI_SUCCESS;
  // Programs with sessions alone have no MPI_COMM_SELF.
  if (is_initialized(&is_done) != MPI_SUCCESS || !is_done) return;
  has_world = 1;
  if (create(copy, on_finalize, &key, NULL) == MPI_SUCCESS)
    set(HANDLE(MPI_Comm, MPI_COMM_SELF, "ompi_mpi_comm_self"), key, NULL);
}

void plait_mpiio_release(struct plait_mpiio_ranks* ranks) {
  if (__atomic_sub_fetch(&ranks->references, 1, __ATOMIC_ACQ_REL) != 0) return;
  FIND(free_comm, MPI_Comm_free);
  if (ranks->has_comm && !__atomic_load_n(&is_finalizing, __ATOMIC_ACQUIRE)) free_comm(&ranks->comm);
  free(ranks);
}

static struct plait_mpiio_ranks* split_ranks(MPI_Comm comm, int color) {
  FIND(find_size, MPI_Comm_size);
  FIND(split, MPI_Comm_split);
  FIND(set_handler, MPI_Comm_set_errhandler);
  struct plait_mpiio_ranks found = {.references = 1};
  struct plait_mpiio_ranks* ranks = malloc(sizeof *ranks);
  const int is_split = split(comm, color < 0 ? MPI_UNDEFINED : color, 0, &found.comm) == MPI_SUCCESS;
  if (ranks == NULL || !is_split || find_size(comm, &found.all) != MPI_SUCCESS) {
    free(ranks);
    return NULL;
  }
  found.has_comm = color >= 0;
  if (found.has_comm) set_handler(found.comm, HANDLE(MPI_Errhandler, MPI_ERRORS_RETURN, "ompi_mpi_errors_return"));
  *ranks = found;
  return ranks;
}

static struct opens* make_opens(MPI_Comm comm, int color) {
  struct plait_mpiio_ranks* ranks = split_ranks(comm, color);
  struct opens* opens = malloc(sizeof *opens);
  if (ranks == NULL || opens == NULL) {
    if (ranks != NULL) plait_mpiio_release(ranks);
    free(opens);
    return NULL;
  }
  *opens = (struct opens){.ranks = ranks};
  return opens;
}

/// Errors of this call, which are not the program's, do not reach its error handler; errors of other threads are
/// returned meanwhile, too.
static struct opens* make_opens_quietly(MPI_Comm comm, int color) {
  FIND(get_handler, MPI_Comm_get_errhandler);
  FIND(set_handler, MPI_Comm_set_errhandler);
  FIND(free_handler, MPI_Errhandler_free);
  MPI_Errhandler handler;
  const int has_handler = get_handler(comm, &handler) == MPI_SUCCESS;
  if (has_handler) set_handler(comm, HANDLE(MPI_Errhandler, MPI_ERRORS_RETURN, "ompi_mpi_errors_return"));
  struct opens* opens = make_opens(comm, color);
  if (has_handler) {
    set_handler(comm, handler);
    free_handler(&handler);
  }
  return opens;
}

/// Stores the attribute. Returns NULL if the MPI cannot.
static struct opens* attach(MPI_Comm comm, struct opens* opens) {
  FIND(set, MPI_Comm_set_attr);
  if (opens == NULL) return NULL;
  if (has_keyval && set(comm, keyval, opens) == MPI_SUCCESS) return opens;
  free_opens(opens);
  return NULL;
}

/// True for MPI_COMM_WORLD and its duplicates, on all ranks alike.
static int is_like_world(MPI_Comm comm, int size) {
  FIND(find_size, MPI_Comm_size);
  FIND(compare, MPI_Comm_compare);
  const MPI_Comm whole = HANDLE(MPI_Comm, MPI_COMM_WORLD, "ompi_mpi_comm_world");
  int all = 0, result = MPI_UNEQUAL;
  if (!has_world || size == 1) return 0;
  if (comm == whole) return 1;
  if (find_size(whole, &all) != MPI_SUCCESS || all != size) return 0;
  return compare(comm, whole, &result) == MPI_SUCCESS && result == MPI_CONGRUENT;
}

/// Finds what duplicates of MPI_COMM_WORLD share. The first open finds out whether each rank uses Plait; if not, this
/// duplicate gets an attribute, as later ones do.
static struct opens* find_world(MPI_Comm comm, int color) {
  FIND(find_size, MPI_Comm_size);
  if (world != NULL && world->number < kTags) return world;
  struct opens* opens = make_opens_quietly(comm, color);
  int size = 0;
  if (opens == NULL) return NULL;
  if (opens->ranks->has_comm) find_size(opens->ranks->comm, &size);
  if (size != opens->ranks->all) {
    is_world_apart = 1;
    return attach(comm, opens);
  }
  if (world != NULL) free_opens(world);
  world = opens;
  return world;
}

static struct opens* find_opens(MPI_Comm comm, int size, int color) {
  FIND(get, MPI_Comm_get_attr);
  struct opens* opens = NULL;
  int is_known = 0;
  if (!has_several_threads && !is_world_apart && is_like_world(comm, size)) return find_world(comm, color);
  if (has_keyval && get(comm, keyval, &opens, &is_known) != MPI_SUCCESS) return NULL;
  if (is_known && opens->number == kTags) {
    // Files with the first tags may be open. All ranks have counted as many opens.
    FIND(delete_attr, MPI_Comm_delete_attr);
    if (delete_attr(comm, keyval) != MPI_SUCCESS) return NULL;
    is_known = 0;
  }
  return is_known ? opens : attach(comm, make_opens_quietly(comm, color));
}

static struct plait_mpiio_ranks* find_ranks(MPI_Comm comm, int size, int color, int* tag) {
  if (color >= 0 && has_several_threads) color |= kSeveralThreads;
  struct opens* opens = find_opens(comm, size, color);
  if (opens == NULL) return NULL;
  *tag = ++opens->number;
  __atomic_add_fetch(&opens->ranks->references, 1, __ATOMIC_RELAXED);
  return opens->ranks;
}

struct plait_mpiio_ranks* plait_mpiio_find_ranks(MPI_Comm comm, int color, int* tag) {
  FIND(find_size, MPI_Comm_size);
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
  pthread_once(&once, make_keyval);
  int size = 0;
  if (find_size(comm, &size) != MPI_SUCCESS) return NULL;
  // Threads may open files on MPI_COMM_SELF at once. With several ranks such opens would be out of order.
  if (size == 1) pthread_mutex_lock(&alone);
  struct plait_mpiio_ranks* ranks = find_ranks(comm, size, color, tag);
  if (size == 1) pthread_mutex_unlock(&alone);
  return ranks;
}
