// Ranges that count from the end of objects (offset -8: the last 8 bytes) become ranges from the beginning, for servers
// without such ranges. The sizes of the objects are requested first, and the later requests are conditional.
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
  std::vector<std::string> objects_asked;
  {
    const AbsoluteRanges ranges(requests, [&](std::span<GetRequest> sizes) {
      for (GetRequest& request : sizes) {
        objects_asked.push_back(request.object);
        EXPECT_TRUE(request.ranges.empty());
        if (request.object != "none")
          request.result = {GetStatus::kRead, request.object == "b" ? 100 : 3, {{}, "\"tag\""}};
      }
    });
    // The range of `a` counts from the beginning, so its size is not needed.
    EXPECT_EQ(objects_asked, (std::vector<std::string>{"b", "short", "none"}));
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
      for (GetRequest& request : sizes) {
        EXPECT_EQ(request.options.if_none_match, &known);
        EXPECT_EQ(request.options.if_match, nullptr);
        if (request.object == "same")
          request.result = {GetStatus::kMatch, 0, known};
        else
          request.result = {GetStatus::kRead, 100, {{}, "\"new\""}};
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
