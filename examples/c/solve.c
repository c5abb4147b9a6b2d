/* Solves A X = B by ScaLAPACK's PDGESV on a grid of 2 x 2 ranks.  A, B and X are in files, in any format and order.
 *
 *     mpiexec -n 4 ./solve a.npy b.npy x.npy */
#include <plait.h>
#include <plait_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 32 }; /* MB_ and NB_ */

extern void Cblacs_get(int context, int what, int* value);
extern void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
extern void Cblacs_gridexit(int context);
extern void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* source_row,
                      const int* source_column, const int* context, const int* leading, int* info);
extern void pdgesv_(const int* n, const int* columns, double* a, const int* ia, const int* ja, const int* desc_a,
                    int* pivots, double* b, const int* ib, const int* jb, const int* desc_b, int* info);

static void check(plait_status status) {
  if (status == PLAIT_OK) return;
  fprintf(stderr, "%s\n", plait_message(NULL));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

typedef struct {
  int64_t shape[2], local[2];
  plait_layout* layout;
  int desc[9];
  double* data;
} matrix;

/* Reads a matrix into the local arrays of ScaLAPACK's blocks. */
static void load(matrix* loaded, const char* name, plait_comm* comm, int context) {
  const int block = BLOCK, first = 0;
  char text[100];
  int rank, info;
  plait_file* file;
  check(plait_open(name, "r", comm, NULL, &file));
  check(plait_file_shape(file, 2, loaded->shape));
  snprintf(text, sizeof text, "(cyclic(%d), cyclic(%d)) onto (2, 2) order=F", BLOCK, BLOCK);
  check(plait_layout_parse_shape(text, 2, loaded->shape, &loaded->layout));
  check(plait_comm_rank(comm, &rank));
  check(plait_layout_local_shape(loaded->layout, rank, 2, loaded->local));
  const int m = (int)loaded->shape[0], n = (int)loaded->shape[1];
  const int leading = loaded->local[0] > 1 ? (int)loaded->local[0] : 1;
  descinit_(loaded->desc, &m, &n, &block, &block, &first, &first, &context, &leading, &info);
  const int64_t bytes = loaded->local[0] * loaded->local[1] * (int64_t)sizeof(double);
  loaded->data = malloc((size_t)bytes + 1);
  check(plait_read(file, loaded->layout, loaded->data, bytes));
  check(plait_close(&file));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  plait_comm* comm;
  plait_file* file;
  matrix a, b;
  int context, rank, info;
  const int first = 1;
  if (argc != 4) return 2;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 2, 2);
  check(plait_comm_from_mpi(MPI_COMM_WORLD, &comm));
  check(plait_comm_rank(comm, &rank));
  load(&a, argv[1], comm, context);
  load(&b, argv[2], comm, context);

  const int n = (int)a.shape[0], columns = (int)b.shape[1];
  int* pivots = malloc((size_t)(a.local[0] + BLOCK) * sizeof(int));
  pdgesv_(&n, &columns, a.data, &first, &first, a.desc, pivots, b.data, &first, &first, b.desc, &info);

  const plait_open_options options = {.size = sizeof options, .shape = b.shape, .dimensions = 2, .dtype = "<f8"};
  check(plait_open(argv[3], "w", comm, &options, &file));
  check(plait_write(file, b.layout, b.data, b.local[0] * b.local[1] * (int64_t)sizeof(double)));
  check(plait_close(&file));
  if (rank == 0) printf("%d equations solved for %d right-hand sides, info = %d\n", n, columns, info);

  free(pivots);
  free(a.data);
  free(b.data);
  plait_layout_free(&a.layout);
  plait_layout_free(&b.layout);
  plait_comm_free(&comm);
  Cblacs_gridexit(context);
  MPI_Finalize();
  return info != 0;
}
