// The registry of replacement policies: names with parameters, such as "2q?in=30%", and errors.
#include "simulation/cache/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "plait/error.hpp"

namespace plait::simulation {
namespace {

std::string catch_error(std::string_view policy, const CacheShape& shape = {100, 4096, 1}) {
  try {
    NamedPolicy(policy).make(shape);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kArgument);
    return error.what();
  }
  return {};
}

TEST(Registry, KnowsBeladysPolicyByItsOtherNames) {
  for (const char* name : {"belady", "opt", "OPT", "min"}) EXPECT_EQ(NamedPolicy(name).kind().name, "belady") << name;
}

TEST(Registry, FindsEachPolicyByItsName) {
  std::set<std::string_view> names;
  for (const PolicyKind* policy : policies()) {
    EXPECT_TRUE(names.insert(policy->name).second) << policy->name;
    EXPECT_EQ(&NamedPolicy(policy->name).kind(), policy);
    EXPECT_NE(NamedPolicy(policy->name).make({4, 0, 1}), nullptr);
    EXPECT_NE(NamedPolicy(policy->name).count({4, 0, 1}), nullptr);
  }
  EXPECT_EQ(names.size(), 12U);
}

TEST(Registry, SuggestsTheNearestName) {
  EXPECT_NE(catch_error("siev").find("did you mean sieve?"), std::string::npos);
  EXPECT_NE(catch_error("siev").find("the policies are lru, fifo, clock, lfu, 2q, arc, sieve, s3fifo, belady, toss, "
                                     "toss-parallel and partition"),
            std::string::npos);
  EXPECT_EQ(catch_error("something").find("did you mean"), std::string::npos);
}

TEST(Registry, AcceptsOtherSpellings) {
  EXPECT_EQ(NamedPolicy("S3-FIFO?small=20%").kind().name, "s3fifo");
  EXPECT_EQ(NamedPolicy("LRU").kind().name, "lru");
  EXPECT_EQ(NamedPolicy("TossParallel").kind().name, "toss-parallel");
  EXPECT_NE(catch_error("SIEV").find("did you mean sieve?"), std::string::npos);
  EXPECT_NE(catch_error("-").find("there is no replacement policy '-'"), std::string::npos);
}

TEST(Registry, KeepsParametersOfCopies) {
  std::string text = "2q?in=30%&out=10%";
  const NamedPolicy first(text);
  const NamedPolicy copy = first;
  std::ranges::fill(text, 'x');
  EXPECT_NE(copy.make({100, 0, 0}), nullptr);
  EXPECT_EQ(&copy.kind(), &first.kind());
}

TEST(Registry, ChecksAmountsWhenThePolicyIsMade) {
  EXPECT_EQ(catch_error("2q?in=400KiB"), "");
  EXPECT_EQ(catch_error("2q?in=1B"), "");  // at least one block
  EXPECT_NE(catch_error("2q?in=401KiB").find("is more than the cache of 100 blocks"), std::string::npos);
  EXPECT_NE(catch_error("2q?in=400KiB", {100, 0, 0}).find("blocks of this cache have no size"), std::string::npos);
  EXPECT_NE(catch_error("2q?in=4").find("has no unit"), std::string::npos);
  EXPECT_NE(catch_error("2q?in=1e300KiB"), "");
}

}  // namespace
}  // namespace plait::simulation
