// Finds the MPI of this process and loads the library of accesses.
//
// This library is loaded into every program that a command starts, shells and launchers included, so it is linked with
// no MPI. Python loads its MPI late and hides its symbols, so RTLD_NEXT would not find them: the MPI is found by the
// name of its library instead. Some MPIs have other names, such as Cray's libmpi_gnu_91.so.12. Programs are linked with
// these, so RTLD_NEXT finds their functions.

#define _GNU_SOURCE  // dladdr, RTLD_NEXT

#include "mpiio/preload/real.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef MPI_ABI_VERSION
#define FAMILY "the standard interface of MPI 5"
static const char* const kLibraries[] = {"libmpi_abi.so.1", "libmpi_abi.so.0"};
#elif defined(OPEN_MPI)
#define FAMILY "Open MPI"
static const char* const kLibraries[] = {"libmpi.so.40", "libmpi.so.80"};
#else
#define FAMILY "MPICH"
static const char* const kLibraries[] = {"libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12", "libmpi.so.0"};
#endif

static void* mpi;
static const struct plait_mpiio_functions* functions;
static int mode;

/// True if the program is linked with an MPI of this family whose library has another name. An MPI of another family
/// does not count, because its handles have other types. The standard interface has one name, which the standard fixes.
static int has_linked_mpi(void) {
#ifdef MPI_ABI_VERSION
  return 0;
#else
  static const char* const kStandard[] = {"libmpi_abi.so.1", "libmpi_abi.so.0"};
  for (size_t i = 0; i < sizeof kStandard / sizeof *kStandard; ++i)
    if (dlopen(kStandard[i], RTLD_NOLOAD | RTLD_LAZY) != NULL) return 0;
  if (dlsym(RTLD_NEXT, "PMPI_File_open") == NULL) return 0;
  const int is_open_mpi = dlsym(RTLD_NEXT, "ompi_mpi_comm_world") != NULL;
#ifdef OPEN_MPI
  return is_open_mpi;
#else
  return !is_open_mpi;
#endif
#endif
}

static void find_mpi(void) {
  for (size_t i = 0; i < sizeof kLibraries / sizeof *kLibraries && mpi == NULL; ++i) {
    // Global, because libraries of Plait that serve several MPIs are linked with none.
    mpi = dlopen(kLibraries[i], RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL);
    if (mpi != NULL && dlsym(mpi, "PMPI_File_open") == NULL) mpi = NULL;
  }
  if (mpi == NULL && has_linked_mpi()) mpi = RTLD_NEXT;
  if (mpi != NULL) return;
  fprintf(stderr,
          "plait mpiio: the program calls MPI-IO, but has not loaded an MPI of the family of the preloaded library, "
          "which is " FAMILY "; start it with plait mpiio run --family and the family of its MPI\n");
  abort();
}

void* plait_mpiio_real(const char* name) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_mpi);
  return dlsym(mpi, name);
}

void* plait_mpiio_variable(const char* name) {
  // The linker copies variables that a program uses into the program, and the MPI uses the copies.
  void* copy = dlsym(RTLD_DEFAULT, name);
  return copy != NULL ? copy : plait_mpiio_real(name);
}

static int to_bit(const char* word, size_t length) {
  static const struct {
    const char* name;
    int bits;
  } kWords[] = {{"on", PLAIT_MPIIO_ON},
                {"explain", PLAIT_MPIIO_ON | PLAIT_MPIIO_EXPLAIN},
                {"always", PLAIT_MPIIO_ON | PLAIT_MPIIO_ALWAYS},
                {"strict", PLAIT_MPIIO_ON | PLAIT_MPIIO_ALWAYS | PLAIT_MPIIO_STRICT}};
  for (size_t i = 0; i < sizeof kWords / sizeof *kWords; ++i)
    if (strlen(kWords[i].name) == length && memcmp(kWords[i].name, word, length) == 0) return kWords[i].bits;
  fprintf(stderr, "plait mpiio: PLAIT_MPIIO contains \"%.*s\"; expected off, on, always, explain or strict\n",
          (int)length, word);
  return PLAIT_MPIIO_ON;
}

static void read_mode(void) {
  const char* text = getenv("PLAIT_MPIIO");
  if (text == NULL || *text == '\0') {
    mode = PLAIT_MPIIO_ON;
    return;
  }
  while (1) {
    const size_t length = strcspn(text, ",");
    if (length == strlen("off") && memcmp(text, "off", length) == 0) {
      mode = PLAIT_MPIIO_OFF;
      return;
    }
    mode |= to_bit(text, length);
    if (text[length] == '\0') return;
    text += length + 1;
  }
}

int plait_mpiio_mode(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_mode);
  return mode;
}

static void load(void) {
  Dl_info self;
  char path[4096];
  if (dladdr((void*)plait_mpiio_load, &self) == 0) return;
  // libplait_mpiio.so and libplait_mpiio_access.so, or libplait_mpiio_FAMILY.so and libplait_mpiio_access_FAMILY.so.
  const char* name = strrchr(self.dli_fname, '/');
  const char* rest = strstr(name != NULL ? name : self.dli_fname, "_mpiio");
  if (rest == NULL) return;
  rest += strlen("_mpiio");
  const int length = snprintf(path, sizeof path, "%.*s_access%s", (int)(rest - self.dli_fname), self.dli_fname, rest);
  if (length < 0 || (size_t)length >= sizeof path) return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* entry = library != NULL ? dlsym(library, "plait_mpiio_entry") : NULL;
  if (entry != NULL)
    functions = ((const struct plait_mpiio_functions* (*)(void* (*)(const char*)))entry)(plait_mpiio_real);
  else
    fprintf(stderr, "plait mpiio: the MPI carries out all accesses, because Plait cannot be loaded: %s\n", dlerror());
}

const struct plait_mpiio_functions* plait_mpiio_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return functions;
}
