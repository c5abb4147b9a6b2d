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
// HDF5 and PnetCDF duplicate a communicator for each file. MPI_COMM_WORLD and all communicators with its ranks in its
// order therefore share one communicator of Plait. MPI_Comm_compare recognizes them without messages. Opens on two of
// them have one order on all ranks, unless several threads may call MPI at once. In such programs each has its own
// communicator.
//
// The shared one is made from MPI_COMM_WORLD, since it must outlive a session whose communicator comes first. Ranks may
// disagree whether they share: their levels of threads may differ, or some may not have called MPI_Init yet. They first
// split the communicator of the file, where all take part, and share only if all have the same color.
//
// Example: a program opens 1000 files on MPI_COMM_WORLD, or on 1000 duplicates of it, one after another. The first open
// makes a communicator, and MPI_Finalize ends it. If the program splits MPI_COMM_WORLD for each file, each open makes
// one, which MPI_Comm_free frees.

#include "mpiio/preload/communicator.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpiio/preload/calls.h"

enum {
  kTags = 32767,       // the largest tag that each MPI allows
  kSharesWorld = 1024  // bit of a color, next to those of the mode
};

/// The attribute of a communicator.
struct opens {
  struct plait_mpiio_ranks* ranks;
  int number;
};

static int keyval;
static int has_keyval;
static int is_finalizing;
/// True once MPI_Init has made MPI_COMM_WORLD. The level of threads is known from then on.
static int has_world;
static int has_several_threads;

/// The opens of MPI_COMM_WORLD and of all communicators with its ranks in its order.
static struct opens* world;
/// True, on all ranks alike, if these communicators share nothing because the ranks have different colors.
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

static int make_keyval(MPI_Comm_delete_attr_function* on_delete, int* key) {
  FIND(create, MPI_Comm_create_keyval);
  return create(HANDLE(MPI_Comm_copy_attr_function*, MPI_COMM_NULL_COPY_FN, "OMPI_C_MPI_COMM_NULL_COPY_FN"), on_delete,
                key, NULL) == MPI_SUCCESS;
}

static void make_keyval_of_opens(void) { has_keyval = make_keyval(on_free, &keyval); }

/// True if all opens on this rank have one order and MPI_COMM_WORLD exists. Programs with sessions may call MPI_Init
/// later or never; until then they have no MPI_COMM_SELF and no level of threads.
static int is_sharing_world(void) {
  FIND(is_initialized, MPI_Initialized);
  FIND(query_threads, MPI_Query_thread);
  FIND(set, MPI_Comm_set_attr);
  static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&looking);
  int is_done = 0, level = MPI_THREAD_MULTIPLE, key;
  if (!has_world && is_initialized(&is_done) == MPI_SUCCESS && is_done) {
    has_world = 1;
    has_several_threads = query_threads(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE;
    if (make_keyval(on_finalize, &key)) set(HANDLE(MPI_Comm, MPI_COMM_SELF, "ompi_mpi_comm_self"), key, NULL);
  }
  const int shares = has_world && !has_several_threads && !is_world_apart;
  pthread_mutex_unlock(&looking);
  return shares && !__atomic_load_n(&is_finalizing, __ATOMIC_ACQUIRE);
}

void plait_mpiio_release(struct plait_mpiio_ranks* ranks) {
  if (__atomic_sub_fetch(&ranks->references, 1, __ATOMIC_ACQ_REL) != 0) return;
  FIND(free_comm, MPI_Comm_free);
  if (ranks->board != NULL) ranks->free_board(ranks->board);
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

/// An error handler of the program, which is replaced while Plait makes communicators.
struct silence {
  MPI_Errhandler handler;
  int has_handler;
};

/// Errors of Plait's calls do not reach the error handler of the program; errors of other threads are returned
/// meanwhile, too.
static struct silence silence_errors(MPI_Comm comm) {
  FIND(get_handler, MPI_Comm_get_errhandler);
  FIND(set_handler, MPI_Comm_set_errhandler);
  struct silence silence;
  silence.has_handler = get_handler(comm, &silence.handler) == MPI_SUCCESS;
  if (silence.has_handler) set_handler(comm, HANDLE(MPI_Errhandler, MPI_ERRORS_RETURN, "ompi_mpi_errors_return"));
  return silence;
}

static void end_silence(MPI_Comm comm, struct silence* silence) {
  FIND(set_handler, MPI_Comm_set_errhandler);
  FIND(free_handler, MPI_Errhandler_free);
  if (!silence->has_handler) return;
  set_handler(comm, silence->handler);
  free_handler(&silence->handler);
}

static struct opens* make_opens_quietly(MPI_Comm comm, int color) {
  struct silence silence = silence_errors(comm);
  struct opens* opens = make_opens(comm, color);
  end_silence(comm, &silence);
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

static MPI_Comm whole_world(void) { return HANDLE(MPI_Comm, MPI_COMM_WORLD, "ompi_mpi_comm_world"); }

/// True for MPI_COMM_WORLD and communicators with its ranks in its order, on all ranks alike.
static int is_like_world(MPI_Comm comm, int size) {
  FIND(find_size, MPI_Comm_size);
  FIND(compare, MPI_Comm_compare);
  const MPI_Comm whole = whole_world();
  int all = 0, result = MPI_UNEQUAL;
  if (size == 1) return 0;
  if (comm == whole) return 1;
  if (find_size(whole, &all) != MPI_SUCCESS || all != size) return 0;
  return compare(comm, whole, &result) == MPI_SUCCESS && result == MPI_CONGRUENT;
}

/// Replaces a communicator by one of the same ranks that is made from MPI_COMM_WORLD.
/// All ranks take part. The program may have begun a collective call on MPI_COMM_WORLD that other ranks have not, so
/// this is no collective call on it.
static int derive_from_world(struct plait_mpiio_ranks* ranks) {
  FIND(find_group, MPI_Comm_group);
  FIND(free_group, MPI_Group_free);
  FIND(create, MPI_Comm_create_group);
  FIND(free_comm, MPI_Comm_free);
  FIND(set_handler, MPI_Comm_set_errhandler);
  const MPI_Comm whole = whole_world();
  MPI_Group group;
  MPI_Comm derived;
  struct silence silence = silence_errors(whole);
  int is_made = 0;
  if (find_group(whole, &group) == MPI_SUCCESS) {
    is_made = create(whole, group, 0, &derived) == MPI_SUCCESS;
    free_group(&group);
  }
  end_silence(whole, &silence);
  if (!is_made) return 0;
  set_handler(derived, HANDLE(MPI_Errhandler, MPI_ERRORS_RETURN, "ompi_mpi_errors_return"));
  free_comm(&ranks->comm);
  ranks->comm = derived;
  return 1;
}

/// Finds the opens that communicators with the ranks of MPI_COMM_WORLD share. The first open finds out whether all
/// ranks share; if not, this communicator gets an attribute of its own, as later ones do.
static struct opens* find_world(MPI_Comm comm, int color) {
  FIND(find_size, MPI_Comm_size);
  if (world != NULL && world->number < kTags) return world;
  struct opens* opens = make_opens_quietly(comm, color);
  int size = 0;
  if (opens == NULL) return NULL;
  if (opens->ranks->has_comm) find_size(opens->ranks->comm, &size);
  if (size != opens->ranks->all || (comm != whole_world() && !derive_from_world(opens->ranks))) {
    is_world_apart = 1;
    return attach(comm, opens);
  }
  if (world != NULL) free_opens(world);
  world = opens;
  return world;
}

static struct opens* find_opens(MPI_Comm comm, int size, int color, int shares_world) {
  FIND(get, MPI_Comm_get_attr);
  struct opens* opens = NULL;
  int is_known = 0;
  if (shares_world && is_like_world(comm, size)) return find_world(comm, color);
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
  const int shares_world = is_sharing_world();
  if (color >= 0 && shares_world) color |= kSharesWorld;
  struct opens* opens = find_opens(comm, size, color, shares_world);
  if (opens == NULL) return NULL;
  *tag = ++opens->number;
  __atomic_add_fetch(&opens->ranks->references, 1, __ATOMIC_RELAXED);
  return opens->ranks;
}

struct plait_mpiio_ranks* plait_mpiio_find_ranks(MPI_Comm comm, int color, int* tag) {
  FIND(find_size, MPI_Comm_size);
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
  pthread_once(&once, make_keyval_of_opens);
  int size = 0;
  if (find_size(comm, &size) != MPI_SUCCESS) return NULL;
  // Threads may open files on MPI_COMM_SELF at once. With several ranks such opens would be out of order.
  if (size == 1) pthread_mutex_lock(&alone);
  struct plait_mpiio_ranks* ranks = find_ranks(comm, size, color, tag);
  if (size == 1) pthread_mutex_unlock(&alone);
  return ranks;
}
