// ETags of the parts of multipart uploads, which are MD5 sums in most cases, and of the objects made of them.
#include "store/objects/s3/part_tags.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

namespace {

using plait::store::SentPart;
using plait::store::s3::is_md5_tag;
using plait::store::s3::joined_tag;

constexpr std::string_view kTag = "\"900150983cd24fb0d6963f7d28e17f72\"";  // the MD5 sum of `abc`

bool matches(std::string_view tag, std::string_view text) { return is_md5_tag(tag, std::as_bytes(std::span(text))); }

TEST(PartTags, ComparesTheMd5OfAPart) {
  EXPECT_TRUE(matches(kTag, "abc"));
  EXPECT_TRUE(matches("900150983CD24FB0D6963F7D28E17F72", "abc"));
  EXPECT_FALSE(matches(kTag, "xyz"));
  EXPECT_FALSE(matches("\"900150983cd24fb0d6963f7d28e17f72-1\"", "abc"));
  EXPECT_FALSE(matches("\"900150983cd24fb0d6963f7d28e17f7x\"", "abc"));
  EXPECT_FALSE(matches("\"", "abc"));
  EXPECT_FALSE(matches("", "abc"));
}

TEST(PartTags, ComputesTheTagOfAnObject) {
  EXPECT_EQ(joined_tag({{1, std::string(kTag)}}), "\"af5da9f45af7a300e3aded972f8ff687-1\"");
  EXPECT_EQ(joined_tag({{1, std::string(kTag)}, {2, "\"v7\""}}), "");
}

}  // namespace
