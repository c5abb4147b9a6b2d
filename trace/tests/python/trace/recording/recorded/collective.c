/* Ranks write and read interleaved blocks of one file through MPI-IO, collectively. */
#include <mpi.h>
#include <stdlib.h>

enum { BLOCKS = 64, BLOCK = 1024 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Datatype own_blocks;
  MPI_Type_vector(BLOCKS, BLOCK, BLOCK * ranks, MPI_INT, &own_blocks);
  MPI_Type_commit(&own_blocks);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_File_set_view(file, (MPI_Offset)rank * BLOCK * (MPI_Offset)sizeof(int), MPI_INT, own_blocks, "native",
                    MPI_INFO_NULL);
  int* data = malloc(sizeof(int) * BLOCKS * BLOCK);
  for (int i = 0; i < BLOCKS * BLOCK; ++i) data[i] = rank;
  MPI_File_write_at_all(file, 0, data, BLOCKS * BLOCK, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < BLOCKS * BLOCK; ++i) data[i] = -1;
  MPI_File_read_at_all(file, 0, data, BLOCKS * BLOCK, MPI_INT, MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < BLOCKS * BLOCK; ++i) wrong += data[i] != rank;
  MPI_File_close(&file);
  MPI_Type_free(&own_blocks);
  free(data);
  MPI_Finalize();
  return wrong != 0;
}
