/* A program that never starts MPI: it writes and reads a shared file, and prints what it read, or the error. */
#include <stdio.h>
#include <string.h>

#include "sf.h"

int main(void) {
  int handle = 0;
  int id = 0;
  char found[5] = "";
  char text[SF_ERRMSG_SIZE] = "";
  int code = SF_Create("alone", 100, 100, -1, &handle);
  if (code == 0) code = SF_Write(handle, 10, 5, "kept", &id);
  if (code == 0) code = SF_Wait(&id);
  if (code == 0) code = SF_Read(handle, 10, 5, found, &id);
  if (code == 0) code = SF_Wait(&id);
  SF_Errmsg(code, text);
  puts(code == 0 ? found : text);
  return 0; /* without SF_Destroy */
}
