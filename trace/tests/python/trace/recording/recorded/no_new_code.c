/* Runs a program that cannot make writable memory executable (PR_SET_MDWE). */
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count < 2 || prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0) != 0) return 77;
  execvp(words[1], words + 1);
  return 1;
}
