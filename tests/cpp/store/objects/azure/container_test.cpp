// Requests to Azure Blob Storage: lists of blobs, conditions that are not met, and dates of signatures.
#include "store/objects/azure/container.hpp"

#include <gtest/gtest.h>

#include <string>

#include "plait/error.hpp"
#include "store/objects/azure/shared_key.hpp"

namespace {

using plait::store::ListDepth;
using plait::store::azure::Container;
using plait::store::http::Request;
using plait::store::http::Response;

Container make_container() { return Container({.container = "c", .account = "me", .endpoint = "https://h"}); }

TEST(AzureContainer, ListsInPages) {
  const Container container = make_container();
  EXPECT_EQ(container.list_url("a b/", ListDepth::kChildren, "n&x"),
            "https://h/c?restype=container&comp=list&delimiter=%2F&marker=n%26x&prefix=a%20b%2F");
  EXPECT_EQ(container.list_url("", ListDepth::kAll, ""), "https://h/c?restype=container&comp=list");
  const auto page = container.parse_page(
      "<?xml version=\"1.0\"?><EnumerationResults ContainerName=\"c\"><Blobs>"
      "<Blob><Name>a&amp;b</Name><Properties><Content-Length>80</Content-Length></Properties></Blob>"
      "<Blob><Name "
      "Encoded=\"true\">a%EF%BF%BFb</Name><Properties><Content-Length>0</Content-Length></Properties></Blob>"
      "<Blob><Name>c</Name><Properties><ResourceType>directory</ResourceType></Properties></Blob>"
      "<BlobPrefix><Name>c/</Name></BlobPrefix></Blobs><NextMarker>2!8</NextMarker></EnumerationResults>",
      "az://c");
  ASSERT_EQ(page.objects.size(), 3U);
  EXPECT_EQ(page.objects[0].name, "a&b");
  EXPECT_EQ(page.objects[0].bytes, 80);
  EXPECT_EQ(page.objects[1].name,
            "a\xEF\xBF\xBF"
            "b");
  EXPECT_EQ(page.objects[2].name, "c/");
  EXPECT_EQ(page.next, "2!8");
  EXPECT_TRUE(
      container.parse_page("<EnumerationResults><Blobs /><NextMarker /></EnumerationResults>", "az://c").next.empty());
  EXPECT_THROW((void)container.parse_page("<html></html>", "az://c"), plait::Error);
}

TEST(AzureContainer, DistinguishesUnmetConditionsFromOtherConflicts) {
  const Container container = make_container();
  EXPECT_TRUE(container.is_unmet({.status = 412}, {}));
  EXPECT_TRUE(container.is_unmet({.status = 412, .headers = {{"x-ms-error-code", "ConditionNotMet"}}}, {}));
  EXPECT_FALSE(container.is_unmet({.status = 412, .headers = {{"x-ms-error-code", "LeaseIdMissing"}}}, {}));
  EXPECT_TRUE(container.is_unmet({.status = 409, .headers = {{"x-ms-error-code", "BlobAlreadyExists"}}}, {}));
  EXPECT_TRUE(container.is_unmet({.status = 409, .text = "<Error><Code>BlobAlreadyExists</Code></Error>"}, {}));
  EXPECT_FALSE(container.is_unmet({.status = 409, .headers = {{"x-ms-error-code", "LeaseAlreadyPresent"}}}, {}));
}

TEST(AzureSignature, HasTheDateOfHttp) {
  EXPECT_EQ(plait::store::azure::http_date(1435361952), "Fri, 26 Jun 2015 23:39:12 GMT");
  EXPECT_EQ(plait::store::azure::http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

}  // namespace
