/* Reads the file argv[1], prints the number of bytes, then runs argv[2] in a shell. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  char text[4096];
  const int file = open(argv[1], O_RDONLY);
  printf("%d bytes\n", (int)read(file, text, sizeof text));
  fflush(stdout);
  close(file);
  return argc > 2 ? system(argv[2]) : 0;
}
