// The options of S3 URLs: the form of endpoints that signatures cover.
#include "store/objects/s3/configuration.hpp"

#include <gtest/gtest.h>

#include <string>

#include "store/objects/web/web_url.hpp"

namespace {

TEST(S3Configuration, DefaultPortsAreLeftOut) {
  // libcurl omits default ports from the header Host, which signatures cover.
  const auto endpoint = [](const std::string& server) {
    const std::string url = "s3://b?anonymous=true&endpoint=" + server + "/k";
    return plait::store::s3::resolve_configuration(plait::store::web::parse_web_url(url), url).endpoint;
  };
  EXPECT_EQ(endpoint("http:%2F%2Fh:80"), "http://h");
  EXPECT_EQ(endpoint("https:%2F%2Fh:443"), "https://h");
  EXPECT_EQ(endpoint("http:%2F%2F[::80]:80%2F"), "http://[::80]");
  for (const std::string unchanged : {"http://h:443", "https://h:80", "http://h:8080", "https://h", "http://[::80]"})
    EXPECT_EQ(
        endpoint(unchanged.substr(0, unchanged.find("//")) + "%2F%2F" + unchanged.substr(unchanged.find("//") + 2)),
        unchanged);
}

}  // namespace
