/* Reads the file argv[1], prints the number of bytes, then runs argv[2] in a shell. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count < 2) return 2;
  char text[4096];
  const int file = open(words[1], O_RDONLY);
  printf("%d bytes\n", (int)read(file, text, sizeof text));
  fflush(stdout);
  close(file);
  return count > 2 ? system(words[2]) : 0;
}
