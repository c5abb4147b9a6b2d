/* The rank that a launcher assigns to a process. */
#include "base/events/events.h"

int plait_events_job_rank(const char* (*setting)(const char* name)) {
  static const char* const names[] = {"PLAIT_RANK",          "PMI_RANK",    "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                      "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
    const char* text = setting(names[i]);
    if (text == 0 || *text < '0' || *text > '9') continue;
    int rank = 0;
    for (; *text >= '0' && *text <= '9' && rank < 100000000; ++text) rank = rank * 10 + (*text - '0');
    if (*text == 0) return rank;
  }
  return -1;
}
