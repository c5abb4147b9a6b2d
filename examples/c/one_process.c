/* One process writes an array by rows, and reads it back as the tiles of four ranks, without MPI. */
#include <plait.h>
#include <stdio.h>
#include <stdlib.h>

static void check(plait_status status) {
  if (status == PLAIT_OK) return;
  fprintf(stderr, "%s\n", plait_message(NULL));
  exit(1);
}

int main(void) {
  const int64_t shape[2] = {6, 4};
  const plait_open_options options = {.size = sizeof options, .shape = shape, .dimensions = 2, .dtype = "<f8"};
  double whole[6][4];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 4; ++j) whole[i][j] = 10 * i + j;

  plait_layout* rows;
  plait_file* file;
  check(plait_layout_parse("6x4 (*, *)", &rows));
  check(plait_open("field.npy", "w", plait_alone(), &options, &file));
  check(plait_write(file, rows, whole, sizeof whole));
  check(plait_close(&file)); /* the file gets its name now; without plait_close it is discarded */

  /* Without MPI, a process reads the local arrays of all ranks, one after the other: of 8, 8, 4 and 4 elements. */
  plait_layout* tiles;
  double parts[24];
  char* text;
  check(plait_layout_parse("6x4 (cyclic(2), block) onto (2, 2)", &tiles));
  check(plait_open("field.npy", "r", plait_alone(), NULL, &file));
  check(plait_read(file, tiles, parts, sizeof parts));
  check(plait_close(&file));
  check(plait_layout_text(tiles, &text));
  int64_t first[2];
  int64_t origin[2] = {0, 0};
  check(plait_layout_to_global(tiles, origin, 3, first));
  printf("%s: rank 3 begins at (%d, %d) with %g\n", text, (int)first[0], (int)first[1], parts[8 + 8 + 4]);

  plait_text_free(&text);
  plait_layout_free(&rows);
  plait_layout_free(&tiles);
  if (plait_open("missing.npy", "r", plait_alone(), NULL, &file) != PLAIT_OK) printf("%s\n", plait_message(NULL));
  return 0;
}
