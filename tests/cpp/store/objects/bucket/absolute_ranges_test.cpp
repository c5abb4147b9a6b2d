// Ranges from the end of objects become ranges from the beginning.
#include "store/objects/bucket/absolute_ranges.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace {

using plait::store::GetRequest;
using plait::store::GetStatus;
using plait::store::ObjectIdentity;
using plait::store::bucket::AbsoluteRanges;

TEST(AbsoluteRanges, HaveTheConditionThatTheObjectIsTheSame) {
  std::array<std::byte, 8> memory{};
  std::vector<GetRequest> requests(4);
  const std::array<const char*, 4> names{"a", "b", "short", "none"};
  for (std::size_t i = 0; i < 4; ++i) requests[i].object = names[i];
  requests[0].ranges = {{4, memory.data(), 8}};
  for (std::size_t i = 1; i < 4; ++i) requests[i].ranges = {{-8, memory.data(), 8}, {0, memory.data(), 1}};
  std::vector<std::string> asked;
  {
    const AbsoluteRanges ranges(requests, [&](std::span<GetRequest> sizes) {
      for (GetRequest& one : sizes) {
        asked.push_back(one.object);
        EXPECT_TRUE(one.ranges.empty());
        if (one.object != "none") one.result = {GetStatus::kRead, one.object == "b" ? 100 : 3, {{}, "\"tag\""}};
      }
    });
    EXPECT_EQ(asked, (std::vector<std::string>{"b", "short", "none"}));
    EXPECT_EQ(requests[0].ranges[0].offset, 4);
    EXPECT_EQ(requests[0].options.if_match, nullptr);
    EXPECT_EQ(requests[1].ranges[0].offset, 92);
    EXPECT_EQ(requests[1].ranges[1].offset, 0);
    ASSERT_NE(requests[1].options.if_match, nullptr);
    EXPECT_EQ(requests[1].options.if_match->tag, "\"tag\"");
    EXPECT_EQ(requests[2].ranges[0].offset, 3) << "outside of the object";
    ASSERT_NE(requests[3].options.if_match, nullptr) << "an object may appear meanwhile";
    requests[1].result.status = GetStatus::kMismatch;
    EXPECT_TRUE(ranges.has_changed(requests[1]));
    requests[3].result.status = GetStatus::kMismatch;
    EXPECT_FALSE(ranges.has_changed(requests[3]));
    EXPECT_EQ(requests[3].result.status, GetStatus::kMissing);
    requests[0].result.status = GetStatus::kMismatch;
    EXPECT_FALSE(ranges.has_changed(requests[0]));
  }
  EXPECT_EQ(requests[1].ranges[0].offset, -8);
  EXPECT_EQ(requests[1].options.if_match, nullptr);
}

TEST(AbsoluteRanges, SendOneConditionAtMost) {
  std::array<std::byte, 8> memory{};
  const ObjectIdentity known{{}, "\"known\""};
  std::vector<GetRequest> requests(2);
  const std::array<const char*, 2> names{"same", "other"};
  for (std::size_t i = 0; i < 2; ++i)
    requests[i] = {.object = names[i], .ranges = {{-8, memory.data(), 8}}, .options = {.if_none_match = &known}};
  {
    const AbsoluteRanges ranges(requests, [&](std::span<GetRequest> sizes) {
      for (GetRequest& one : sizes) {
        EXPECT_EQ(one.options.if_none_match, &known);
        EXPECT_EQ(one.options.if_match, nullptr);
        if (one.object == "same")
          one.result = {GetStatus::kMatch, 0, known};
        else
          one.result = {GetStatus::kRead, 100, {{}, "\"new\""}};
      }
    });
    EXPECT_TRUE(ranges.is_match(requests[0]));
    EXPECT_EQ(requests[0].result.status, GetStatus::kMatch);
    EXPECT_FALSE(ranges.is_match(requests[1]));
    EXPECT_EQ(requests[1].options.if_none_match, nullptr);
    EXPECT_EQ(requests[1].options.if_match->tag, "\"new\"");
    EXPECT_EQ(requests[1].ranges[0].offset, 92);
  }
  EXPECT_EQ(requests[1].options.if_none_match, &known);
  EXPECT_EQ(requests[1].options.if_match, nullptr);
}

}  // namespace
