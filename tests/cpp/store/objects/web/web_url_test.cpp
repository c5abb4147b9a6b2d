// Options of URLs, and secrets in them.
#include "store/objects/web/web_url.hpp"

#include <gtest/gtest.h>

#include <string>

#include "plait/error.hpp"
#include "store/objects/open_objects.hpp"

namespace {

using plait::store::canonical_name;
using plait::store::web::parse_web_url;
using plait::store::web::WebUrl;
using plait::store::web::without_options;
using plait::store::web::without_secrets;

TEST(WebUrl, CanonicalNamesHaveOptionsBeforeTheKey) {
  EXPECT_EQ(canonical_name("s3://b/k.zarr?region=x"), "s3://b?region=x/k.zarr");
  EXPECT_EQ(canonical_name("s3://b/k.zarr?endpoint=http://h:1&region=x::/g/a"),
            "s3://b?endpoint=http:%2F%2Fh:1&region=x/k.zarr::/g/a");
  EXPECT_EQ(canonical_name("s3://b/k.zarr?endpoint=http://[::1]:9::/a"),
            "s3://b?endpoint=http:%2F%2F[::1]:9/k.zarr::/a");
  EXPECT_EQ(canonical_name("zarr:s3://b/k?a=1"), "zarr:s3://b?a=1/k");
  EXPECT_EQ(canonical_name("https://h/a.npy?sig=x/y"), "https://h?sig=x%2Fy/a.npy");
  for (const char* same : {"s3://b?region=x/k.zarr::/g", "s3://b/k.zarr", "memory://b/a?b", "a.npy?x", "./s3://b/a?b",
                           "data.zarr::/s3://b?c", "raw:x?y"})
    EXPECT_EQ(canonical_name(same), same);
}

TEST(WebUrl, IsSplit) {
  const WebUrl url = parse_web_url("s3://b?endpoint=http:%2F%2Fh:1&anonymous/k/a.zarr");
  EXPECT_EQ(url.scheme + ' ' + url.authority + ' ' + url.key, "s3 b k/a.zarr");
  ASSERT_EQ(url.options.size(), 2U);
  EXPECT_EQ(url.options[0].value, "http://h:1");
  EXPECT_EQ(url.options[1].key + url.options[1].value, "anonymous");
  EXPECT_THROW((void)parse_web_url("s3://b?a=1&a=2/k"), plait::Error);
  EXPECT_THROW((void)parse_web_url("s3://b?a=%zz/k"), plait::Error);
}

TEST(WebUrl, SecretsAreRemoved) {
  EXPECT_EQ(without_secrets("https://h/a.npy?sig=x&t=y: not found"), "https://h/a.npy?...: not found");
  EXPECT_EQ(without_secrets("cannot read https://h?sig=x/a.npy, or https://h/b?c; end"),
            "cannot read https://h?.../a.npy, or https://h/b?...; end");
  EXPECT_EQ(without_secrets("http://h/a.npz?sig=x/y::name: no"), "http://h/a.npz?...::name: no");
  EXPECT_EQ(without_secrets("http://user:word@h/a@b"), "http://...@h/a@b");
  EXPECT_EQ(without_secrets("HTTPS://user:word@h/a?sig=x"), "HTTPS://...@h/a?...");
  for (const char* slashes : {"://", ":%2F%2F", "%3A%2F%2F"})
    for (const char* at : {"@", "%40"})
      EXPECT_EQ(
          without_secrets(std::string("s3://b?region=x&endpoint=http") + slashes + "user:word" + at + "h/k@2: no"),
          std::string("s3://b?region=x&endpoint=...") + at + "h/k@2: no");
  for (const char* same : {"", "s3://b?region=x/k", "memory://b/a?b=c", "https://h/a: what? yes", "://?x"})
    EXPECT_EQ(without_secrets(same), same);
}

TEST(WebUrl, NamesInTracesHaveNoOptions) {
  EXPECT_EQ(without_options("s3://b?region=x/a.zarr/c/0"), "s3://b/a.zarr/c/0");
  EXPECT_EQ(without_options("s3://b/a.npy?region=x"), "s3://b/a.npy");
  EXPECT_EQ(without_options("https://user:word@h?sig=x/a.npy"), "https://...@h/a.npy");
  EXPECT_EQ(without_options("s3://b?region=x"), "s3://b");
  EXPECT_EQ(without_options("s3://b/a.npy"), "s3://b/a.npy");
}

TEST(WebUrl, AddsAnOptionInPlaceOfAnOlderValue) {
  using plait::store::web::with_option;
  EXPECT_EQ(with_option("s3://b/a.zarr", "x", "1"), "s3://b?x=1/a.zarr");
  EXPECT_EQ(with_option("s3://b/a.zarr?y=2&x=0::g/a", "x", "1"), "s3://b?x=1&y=2/a.zarr::g/a");
  EXPECT_EQ(with_option("s3://b?x=0/a.zarr", "x", "1"), "s3://b?x=1/a.zarr");
  EXPECT_EQ(with_option("zarr:s3://b/a?endpoint=http://[::1]:9::g", "x", "1"),
            "zarr:s3://b?x=1&endpoint=http:%2F%2F[::1]:9/a::g");
}

}  // namespace
