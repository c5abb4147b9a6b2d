// Locations: which of them are URLs, their parts, and what is above them.
#include "store/objects/object_url.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plait/error.hpp"
#include "store/objects/object_bytes.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::store {
namespace {

TEST(ObjectUrls, BeginWithASchemeAndTwoSlashes) {
  EXPECT_EQ(url_scheme("s3://bucket/key"), "s3");
  EXPECT_EQ(url_scheme("x-y+z.1://a"), "x-y+z.1");
  EXPECT_EQ(url_scheme("memory://"), "memory");
  for (const char* path : {"", "a", "/a//b", "://a", "1s://a", "host:a//b", "a b://c", "data.zarr::/s3://a", "C:/a"})
    EXPECT_EQ(url_scheme(path), "") << path;
}

TEST(ObjectUrls, HaveABucketAndAKey) {
  const ObjectUrl url = parse_object_url("memory://trial/run/a.zarr//");
  EXPECT_EQ(url.bucket, "trial");
  EXPECT_EQ(url.key, "run/a.zarr");
  for (const char* wrong : {"memory://", "memory:///a", "memory://b", "memory://b/", "memory://b//a", "memory://b/./a",
                            "memory://b/a/../c"})
    EXPECT_THROW((void)parse_object_url(wrong), Error) << wrong;
}

TEST(ObjectUrls, EndAboveTheirFirstPart) {
  EXPECT_EQ(parent_location("memory://b/run/a.zarr"), "memory://b/run");
  EXPECT_EQ(parent_location("memory://b/run"), "");
  EXPECT_EQ(parent_location("memory://b"), "");
  EXPECT_EQ(parent_location("/a/b"), "/a");
  EXPECT_EQ(parent_location("/a"), "");
  EXPECT_EQ(parent_location("a"), "");
  EXPECT_EQ(absolute_location("memory://b/a"), "memory://b/a");
  EXPECT_TRUE(absolute_location("a").ends_with("/a"));
}

TEST(ObjectUrls, OfUnknownSchemesNameTheKnownOnes) {
  try {
    (void)open_objects("abfs://bucket/a.zarr", Sharing::kShared);
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    const std::string expected =
        "abfs://bucket/a.zarr is a URL, but Plait has no object store for abfs://; the schemes that it knows: memory, "
        "s3, "
        "gs, az, ";
    EXPECT_EQ(std::string(error.what()).substr(0, expected.size()), expected);
  }
}

TEST(MemoryBuckets, AreFoundByTheirNames) {
  const auto text = std::as_bytes(std::span("content", 7));
  open_objects("memory://found/a/", Sharing::kShared)->put("b/c", text);
  std::vector<char> read(3);
  ObjectBytes bytes("memory://found/a/b/c");
  EXPECT_EQ(bytes.size(), 7);
  bytes.read({{2, reinterpret_cast<std::byte*>(read.data()), 3}});
  EXPECT_EQ(std::string(read.begin(), read.end()), "nte");
  EXPECT_THROW(bytes.read({{5, reinterpret_cast<std::byte*>(read.data()), 3}}), Error);
  EXPECT_THROW(bytes.write({{0, text.data(), 1}}), Error);
  open_objects("memory://found/a", Sharing::kShared)->put("b/c", text.subspan(1));
  EXPECT_EQ(bytes.size(), 7);  // it was read by one request
  EXPECT_EQ(ObjectBytes("memory://found/a/b/c").size(), 6);
  EXPECT_FALSE(open_objects("memory://other/a", Sharing::kShared)->contains("b/c"));
  EXPECT_THROW((void)ObjectBytes("memory://found/a/b").size(), Error);
  EXPECT_THROW((void)ObjectBytes("memory://found/a/d").size(), Error);
}

}  // namespace
}  // namespace plait::store
