/* Prints a line; the tests link it statically, so that no library can be loaded into it. */
#include <unistd.h>

int main(void) { return write(1, "static\n", 7) == 7 ? 0 : 1; }
