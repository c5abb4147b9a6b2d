// The rank of a process, as launchers state it in the environment.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "base/events/events.h"

namespace {

std::map<std::string, std::string> environment;

/// Returns the rank of a job's process with these environment variables; -1 if they state none.
int rank_in(std::map<std::string, std::string> variables) {
  environment = std::move(variables);
  return plait_events_job_rank([](const char* name) -> const char* {
    const auto variable = environment.find(name);
    return variable == environment.end() ? nullptr : variable->second.c_str();
  });
}

TEST(JobRank, IsReadFromTheVariableOfAnyLauncher) {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    EXPECT_EQ(rank_in({{name, "0"}}), 0) << name;
    EXPECT_EQ(rank_in({{name, "1234567"}}), 1234567) << name;
  }
  EXPECT_EQ(rank_in({}), -1);
  EXPECT_EQ(rank_in({{"RANK", "3"}}), -1);
}

TEST(JobRank, PrefersTheLauncherToTheBatchSystem) {
  EXPECT_EQ(rank_in({{"SLURM_PROCID", "0"}, {"PMI_RANK", "5"}}), 5);
  EXPECT_EQ(rank_in({{"SLURM_PROCID", "0"}, {"OMPI_COMM_WORLD_RANK", "6"}}), 6);
}

TEST(JobRank, IgnoresValuesThatAreNotRanks) {
  for (const char* text : {"", "x", "-1", "3x", " 3", "99999999999"}) {
    EXPECT_EQ(rank_in({{"PMI_RANK", text}}), -1) << text;
    EXPECT_EQ(rank_in({{"PMI_RANK", text}, {"SLURM_PROCID", "7"}}), 7) << text;
  }
}

}  // namespace
