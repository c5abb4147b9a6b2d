#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace plait::base {
namespace {

TEST(Text, PutsTextsAndNumbersOneBehindTheOther) {
  const std::string name = "a.npy";
  EXPECT_EQ(text(name, " has ", 3, ' ', std::string_view("dimensions"), '.'), "a.npy has 3 dimensions.");
  EXPECT_EQ(text(), "");
}

TEST(Text, HasRoomForTheLongestNumbers) {
  EXPECT_EQ(text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(Text, TellsFractionsInSixDigits) { EXPECT_EQ(text(1.0 / 3, " ", 2.0, " ", 1e300), "0.333333 2 1e+300"); }

TEST(Text, TellsTuplesAndBytes) {
  const std::int64_t values[] = {4, -8};
  EXPECT_EQ(tuple_text(values), "(4, -8)");
  EXPECT_EQ(tuple_text({}), "()");
  EXPECT_EQ(bytes_text(640), "640 B");
  EXPECT_EQ(bytes_text(3 << 19), "1.5 MiB");
  EXPECT_EQ(bytes_text(2 << 20), "2 MiB");
}

}  // namespace
}  // namespace plait::base
