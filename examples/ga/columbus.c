/* Records that are kept compressed on the disks of all processes, and updated by whichever process is free.
 *
 * The way in which COLUMBUS, a program for multireference configuration interaction, keeps what does not fit into
 * memory: Nieplocha, Foster and Dachsel, "Distant I/O" (1998), section 5. A process draws a task, reads the record that
 * belongs to it, uncompresses, updates and compresses it, and writes it back; it may need more bytes then, or fewer.
 * Of Shared Files it uses nothing but what Global Arrays publishes.
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

enum { COEFFICIENTS = 7000 }; /* of a record; about 30 KB when they are compressed */
enum { SPARE = 4 };           /* a record may grow by a fourth of its size until it has to move */

/* What is compressed into a record. */
typedef struct {
  int64_t number;
  int64_t version;
  uint64_t checksum;
  double coefficients[COEFFICIENTS];
} record_t;

/* Where a record lies: the same on every process at the start of an iteration. */
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
static slot_t *directory, *before;
static MPI_Win counters;
static record_t record, expected;
static unsigned char* packed;
static uLong max_compressed;

static void fail(const char* what, int64_t number, const char* why) {
  fprintf(stderr, "process %d: %s %" PRId64 ": %s\n", me, what, number, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int code, const char* what, int64_t number) {
  char text[SF_ERRMSG_SIZE];
  if (code == 0) return;
  SF_Errmsg(code, text);
  fail(what, number, text);
}

/* Adds to a counter of process 0, without its doing, and returns what it was before. */
static int64_t take(int which, int64_t amount) {
  int64_t was = 0;
  MPI_Fetch_and_op(&amount, &was, MPI_INT64_T, 0, which, MPI_SUM, counters);
  MPI_Win_flush(0, counters);
  return was;
}

/* A number from 0 to 1 that follows from the state, which moves on (splitmix64). */
static double next(uint64_t* state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Makes the next version of a record: adds contributions, and drops other coefficients as too small. */
static void update(record_t* one) {
  uint64_t state = (uint64_t)(++one->version * records + one->number) * 7919;
  const double kept = 0.3 + 0.4 * next(&state);
  for (int i = 0; i < COEFFICIENTS; ++i) {
    const double contribution = next(&state);
    one->coefficients[i] = next(&state) < kept ? one->coefficients[i] + contribution : 0.0;
  }
  one->checksum = crc32(0, (const unsigned char*)one->coefficients, sizeof one->coefficients);
}

/* A record before its first version. */
static void empty(record_t* one, int64_t number) {
  memset(one, 0, sizeof *one);
  one->number = number;
}

static int64_t pack(void) {
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

/* Reads a record, which must be the one and the version that the directory tells; returns the seconds of reading. */
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

/* Notes the record's new size and version, and gives it a new slot at the end of the file where it has outgrown its
 * old one. */
static void store_record(int64_t size) {
  slot_t* slot = &directory[record.number];
  if (size > slot->capacity) {
    slot->capacity = size + size / SPARE;
    slot->offset = take(0, slot->capacity);
  }
  slot->size = size;
  slot->version = record.version;
}

/* Tells all processes what each of them has changed in the directory.  No two have changed the same record. */
static void share(void) {
  int64_t* now = (int64_t*)directory;
  const int64_t* old = (const int64_t*)before;
  for (int64_t i = 0; i < NUMBERS * records; ++i) now[i] -= old[i];
  MPI_Allreduce(MPI_IN_PLACE, now, (int)(NUMBERS * records), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (int64_t i = 0; i < NUMBERS * records; ++i) now[i] += old[i];
  memcpy(before, directory, sizeof *directory * (size_t)records);
}

/* Writes all records for the first time, each process some of them. */
static void create(void) {
  for (int64_t number = me; number < records; number += processes) {
    empty(&record, number);
    update(&record);
    store_record(pack());
    write_record();
  }
  share();
}

/* Updates every record once; adds what this process read, and the seconds that it took. */
static void iterate(int iteration, double* volume, double* seconds) {
  /* Each step leads to another record as long as it has no divisor in common with their number. */
  const int64_t stride = records % 61 != 0 ? 61 : 1;
  for (int64_t task; (task = take(1 + iteration, 1)) < records;) {
    const int64_t number = task * stride % records;
    *seconds += read_record(number);
    *volume += (double)directory[number].size;
    update(&record);
    store_record(pack());
    write_record();
  }
  share();
}

/* Compares all records with what their updates make; returns how many updates they are. */
static int64_t updates_in_records(void) {
  int64_t updates = 0;
  for (int64_t number = me; number < records; number += processes) {
    read_record(number);
    empty(&expected, number);
    while (expected.version < record.version) update(&expected);
    if (memcmp(&record, &expected, sizeof record) != 0) fail("record", number, "is not what its updates make");
    updates += record.version - 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, &updates, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return updates;
}

int main(int argc, char** argv) {
  const char* name = "columbus";
  double spent[2] = {0, 0};
  int64_t *numbers, updates, moved = 0;
  int level;
  /* The processes that have the disks serve the others from a thread. */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (argc > 1) records = strtoll(argv[1], NULL, 10);
  if (argc > 2) iterations = strtoll(argv[2], NULL, 10);
  if (argc > 3) name = argv[3];
  if (records < 1 || records > INT32_MAX / NUMBERS || iterations < 1 || iterations > 1000)
    fail("number of records", records, "or of iterations is out of range");

  /* The first counter tells where the file ends, the others the next task of each iteration. */
  MPI_Win_allocate(me == 0 ? (1 + iterations) * (MPI_Aint)sizeof *numbers : 0, sizeof *numbers, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &numbers, &counters);
  for (int64_t i = 0; me == 0 && i <= iterations; ++i) numbers[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, counters);
  directory = calloc((size_t)records, sizeof *directory);
  before = calloc((size_t)records, sizeof *before);
  max_compressed = compressBound(sizeof record);
  packed = malloc(max_compressed);
  if (directory == NULL || before == NULL || packed == NULL) fail("memory for records", records, "is not there");

  /* No limit, an expected size, and the size of a usual request. */
  check(SF_Create(name, -1, 45e3 * (double)records, 30e3, &file), "file", 0);
  create();
  int64_t* slots = malloc(sizeof *slots * (size_t)records);
  if (slots == NULL) fail("memory for records", records, "is not there");
  for (int64_t i = 0; i < records; ++i) slots[i] = directory[i].offset;
  for (int iteration = 0; iteration < iterations; ++iteration) iterate(iteration, &spent[0], &spent[1]);
  updates = updates_in_records();
  check(SF_Destroy(file), "file", 0);

  MPI_Allreduce(MPI_IN_PLACE, spent, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) {
    double size = 0;
    for (int64_t i = 0; i < records; ++i) {
      moved += directory[i].offset != slots[i];
      size += (double)directory[i].size / (double)records;
    }
    printf("%" PRId64 " records of %.1f KB; %" PRId64 " updates, %" PRId64 " records moved\n", records, size / 1e3,
           updates, moved);
    printf("read %.1f MB in %.3f s of all processes: %.1f MB/s per CPU\n", spent[0] / 1e6, spent[1],
           spent[0] / spent[1] / 1e6);
    if (updates != records * iterations) fail("tasks drawn, but not in the records:", records * iterations, "lost");
  }
  free(slots);
  free(packed);
  free(before);
  free(directory);
  MPI_Win_unlock_all(counters);
  MPI_Win_free(&counters);
  MPI_Finalize();
  return 0;
}
