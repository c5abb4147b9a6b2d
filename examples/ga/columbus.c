/* Records are stored compressed on the disks of all processes, and each is updated by the next free process.
 *
 * This is how COLUMBUS, a program for multireference configuration interaction, stores data that does not fit into
 * memory: Nieplocha, Foster and Dachsel, "Distant I/O" (1998), section 5. A process takes a task, reads the record that
 * belongs to it, decompresses, updates and compresses it, and writes it back; its size may change.
 * The program uses only the functions of Shared Files that Global Arrays publishes.
 *
 *   mpicc columbus.c $(pkg-config --cflags --libs plait-sf) -lz -o columbus
 *   mpiexec -n 4 ./columbus [RECORDS [ITERATIONS [FILE]]] */
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "sf.h"

enum { COEFFICIENTS = 7000 }; /* coefficients of a record; about 30 KB after compression */
enum { SPARE = 4 };           /* a record may grow by a fourth of its size before it has to move */

/* The uncompressed content of a record. */
typedef struct {
  int64_t number;
  int64_t version;
  uint64_t checksum;
  double coefficients[COEFFICIENTS];
} record_t;

/* The location of a record in the file, and its version.  All processes have the same directory of slots at the start
 * of an iteration. */
typedef struct {
  int64_t offset;
  int64_t size;
  int64_t capacity;
  int64_t version;
} slot_t;
enum { NUMBERS = sizeof(slot_t) / sizeof(int64_t) };

static int me, processes;
static int file;
static int64_t records = 100, iterations = 3;
static slot_t *directory, *old_directory;
static MPI_Win counters;
static record_t record, expected;
static unsigned char* packed;
static uLong max_compressed;

static void fail(const char* subject, int64_t number, const char* reason) {
  fprintf(stderr, "process %d: %s %" PRId64 ": %s\n", me, subject, number, reason);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int code, const char* subject, int64_t number) {
  char text[SF_ERRMSG_SIZE];
  if (code == 0) return;
  SF_Errmsg(code, text);
  fail(subject, number, text);
}

/* Adds to a counter of process 0 by one-sided communication, and returns the counter's previous value. */
static int64_t fetch_and_add(int counter, int64_t amount) {
  int64_t previous = 0;
  MPI_Fetch_and_op(&amount, &previous, MPI_INT64_T, 0, counter, MPI_SUM, counters);
  MPI_Win_flush(0, counters);
  return previous;
}

/* Returns the next pseudo-random number from 0 to 1, and advances the state (splitmix64). */
static double next_random(uint64_t* state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Makes the next version of a record: adds contributions to some coefficients, and drops the others as too small. */
static void update(record_t* target) {
  uint64_t state = (uint64_t)(++target->version * records + target->number) * 7919;
  const double nonzero = 0.3 + 0.4 * next_random(&state);
  for (int i = 0; i < COEFFICIENTS; ++i) {
    const double contribution = next_random(&state);
    target->coefficients[i] = next_random(&state) < nonzero ? target->coefficients[i] + contribution : 0.0;
  }
  target->checksum = crc32(0, (const unsigned char*)target->coefficients, sizeof target->coefficients);
}

/* Makes a record before its first version. */
static void clear_record(record_t* target, int64_t number) {
  memset(target, 0, sizeof *target);
  target->number = number;
}

static int64_t compress_record(void) {
  uLong size = max_compressed;
  if (compress2(packed, &size, (const unsigned char*)&record, sizeof record, 1) != Z_OK)
    fail("record", record.number, "cannot be compressed");
  return (int64_t)size;
}

static void write_record(void) {
  const slot_t* slot = &directory[record.number];
  int request;
  check(SF_Write(file, (double)slot->offset, (double)slot->size, (char*)packed, &request), "record", record.number);
  check(SF_Wait(&request), "record", record.number);
}

/* Reads a record, checks that it has the number and version of the directory, and returns the seconds of reading. */
static double read_record(int64_t number) {
  const slot_t* slot = &directory[number];
  const double begin = MPI_Wtime();
  uLong size = sizeof record;
  int request;
  check(SF_Read(file, (double)slot->offset, (double)slot->size, (char*)packed, &request), "record", number);
  check(SF_Wait(&request), "record", number);
  const double seconds = MPI_Wtime() - begin;
  if (uncompress((unsigned char*)&record, &size, packed, (uLong)slot->size) != Z_OK || size != sizeof record)
    fail("record", number, "cannot be uncompressed");
  if (record.number != number || record.version != slot->version ||
      record.checksum != crc32(0, (const unsigned char*)record.coefficients, sizeof record.coefficients))
    fail("record", number, "is not what was written last");
  return seconds;
}

/* Updates the directory with the record's size and version; a record that has outgrown its slot gets a new one at the
 * end of the file. */
static void store_record(int64_t size) {
  slot_t* slot = &directory[record.number];
  if (size > slot->capacity) {
    slot->capacity = size + size / SPARE;
    slot->offset = fetch_and_add(0, slot->capacity);
  }
  slot->size = size;
  slot->version = record.version;
}

/* Combines the changes of all processes in the directory, by adding differences: no two processes have changed the same
 * record.  Collective. */
static void combine_changes(void) {
  int64_t* now = (int64_t*)directory;
  const int64_t* old = (const int64_t*)old_directory;
  for (int64_t i = 0; i < NUMBERS * records; ++i) now[i] -= old[i];
  MPI_Allreduce(MPI_IN_PLACE, now, (int)(NUMBERS * records), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (int64_t i = 0; i < NUMBERS * records; ++i) now[i] += old[i];
  memcpy(old_directory, directory, sizeof *directory * (size_t)records);
}

/* Writes the first version of all records; each process writes some of them.  Collective. */
static void create_records(void) {
  for (int64_t number = me; number < records; number += processes) {
    clear_record(&record, number);
    update(&record);
    store_record(compress_record());
    write_record();
  }
  combine_changes();
}

/* Updates every record once; adds the bytes that this process has read, and the seconds of reading them. */
static void update_records(int iteration, double* volume, double* seconds) {
  /* Tasks visit the records with a stride.  They reach each record once if the stride and the number of records have no
   * common divisor; 61 is a prime. */
  const int64_t stride = records % 61 != 0 ? 61 : 1;
  for (int64_t task; (task = fetch_and_add(1 + iteration, 1)) < records;) {
    const int64_t number = task * stride % records;
    *seconds += read_record(number);
    *volume += (double)directory[number].size;
    update(&record);
    store_record(compress_record());
    write_record();
  }
  combine_changes();
}

/* Compares all records with the expected results of their updates; returns the total number of updates.  Collective. */
static int64_t count_updates(void) {
  int64_t updates = 0;
  for (int64_t number = me; number < records; number += processes) {
    read_record(number);
    clear_record(&expected, number);
    while (expected.version < record.version) update(&expected);
    if (memcmp(&record, &expected, sizeof record) != 0) fail("record", number, "is not what its updates make");
    updates += record.version - 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, &updates, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return updates;
}

int main(int argc, char** argv) {
  const char* name = "columbus";
  double totals[2] = {0, 0};
  int64_t *numbers, updates, moved = 0;
  int level;
  /* Processes serve their disks to others from a thread, which calls MPI too. */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (argc > 1) records = strtoll(argv[1], NULL, 10);
  if (argc > 2) iterations = strtoll(argv[2], NULL, 10);
  if (argc > 3) name = argv[3];
  if (records < 1 || records > INT32_MAX / NUMBERS || iterations < 1 || iterations > 1000)
    fail("number of records", records, "or of iterations is out of range");

  /* Counter 0 is the end of the file; the others are the next tasks of the iterations. */
  MPI_Win_allocate(me == 0 ? (1 + iterations) * (MPI_Aint)sizeof *numbers : 0, sizeof *numbers, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &numbers, &counters);
  for (int64_t i = 0; me == 0 && i <= iterations; ++i) numbers[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, counters);
  directory = calloc((size_t)records, sizeof *directory);
  old_directory = calloc((size_t)records, sizeof *old_directory);
  max_compressed = compressBound(sizeof record);
  packed = malloc(max_compressed);
  if (directory == NULL || old_directory == NULL || packed == NULL) fail("memory for records", records, "is not there");

  /* No maximum size, the expected size, and the size of a typical request. */
  check(SF_Create(name, -1, 45e3 * (double)records, 30e3, &file), "file", 0);
  create_records();
  int64_t* slots = malloc(sizeof *slots * (size_t)records);
  if (slots == NULL) fail("memory for records", records, "is not there");
  for (int64_t i = 0; i < records; ++i) slots[i] = directory[i].offset;
  for (int iteration = 0; iteration < iterations; ++iteration) update_records(iteration, &totals[0], &totals[1]);
  updates = count_updates();
  check(SF_Destroy(file), "file", 0);

  MPI_Allreduce(MPI_IN_PLACE, totals, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) {
    double size = 0;
    for (int64_t i = 0; i < records; ++i) {
      moved += directory[i].offset != slots[i];
      size += (double)directory[i].size / (double)records;
    }
    printf("%" PRId64 " records of %.1f KB; %" PRId64 " updates, %" PRId64 " records moved\n", records, size / 1e3,
           updates, moved);
    printf("read %.1f MB in %.3f s of all processes: %.1f MB/s per CPU\n", totals[0] / 1e6, totals[1],
           totals[0] / totals[1] / 1e6);
    if (updates != records * iterations) fail("tasks drawn, but not in the records:", records * iterations, "lost");
  }
  free(slots);
  free(packed);
  free(old_directory);
  free(directory);
  MPI_Win_unlock_all(counters);
  MPI_Win_free(&counters);
  MPI_Finalize();
  return 0;
}
