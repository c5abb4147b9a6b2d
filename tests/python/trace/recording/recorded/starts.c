/* Reads the file that argv[1] names, prints how much it holds, then has a shell run argv[2]. */
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
