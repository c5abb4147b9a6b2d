// Lists of unfinished multipart uploads, and of the parts of an upload.
#include "store/objects/s3/unfinished_uploads.hpp"

#include <gtest/gtest.h>

namespace {

using plait::store::s3::parse_parts;
using plait::store::s3::parse_uploads;

TEST(UnfinishedUploads, ParsesAPageOfUploads) {
  const auto page = parse_uploads(
      "<ListMultipartUploadsResult><EncodingType>url</EncodingType><KeyMarker></KeyMarker>"
      "<NextKeyMarker>a+b%2B.nc</NextKeyMarker><NextUploadIdMarker>u/1=</NextUploadIdMarker>"
      "<IsTruncated>true</IsTruncated><Upload><Key>a+b%2B.nc</Key><UploadId>u/1=</UploadId>"
      "<Owner><ID>x</ID></Owner><Initiated>2026-11-30T08:15:00.000Z</Initiated></Upload></ListMultipartUploadsResult>");
  ASSERT_EQ(page.entries.size(), 1U);
  EXPECT_EQ(page.entries[0].key, "a b+.nc");
  EXPECT_EQ(page.entries[0].id, "u/1=");
  EXPECT_EQ(page.entries[0].begun, "2026-11-30T08:15:00.000Z");
  EXPECT_FALSE(page.is_last);
  EXPECT_EQ(page.next, "&key-marker=a%20b%2B.nc&upload-id-marker=u%2F1%3D");
}

TEST(UnfinishedUploads, ParsesAPageOfParts) {
  const auto page = parse_parts(
      "<ListPartsResult><PartNumberMarker>0</PartNumberMarker><NextPartNumberMarker>2</NextPartNumberMarker>"
      "<IsTruncated>false</IsTruncated><Part><PartNumber>1</PartNumber><ETag>&quot;t1&quot;</ETag>"
      "<LastModified>2026-11-30T08:16:00.000Z</LastModified><Size>8388608</Size></Part><Part><PartNumber>2</"
      "PartNumber><ETag>\"t2\"</ETag><Size>3</Size></Part>"
      "</ListPartsResult>");
  ASSERT_EQ(page.entries.size(), 2U);
  EXPECT_EQ(page.entries[0].number, 1);
  EXPECT_EQ(page.entries[0].bytes, 8388608);
  EXPECT_EQ(page.entries[0].tag, "\"t1\"");
  EXPECT_EQ(page.entries[1].tag, "\"t2\"");
  EXPECT_EQ(page.entries[0].changed, "2026-11-30T08:16:00.000Z");
  EXPECT_EQ(page.entries[1].changed, "");
  EXPECT_TRUE(page.is_last);
  EXPECT_EQ(page.next, "");
}

TEST(UnfinishedUploads, FindsNoNextPageWithoutAMarker) {
  const auto uploads = parse_uploads(
      "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextUploadIdMarker>u</NextUploadIdMarker>"
      "</ListMultipartUploadsResult>");
  EXPECT_FALSE(uploads.is_last);
  EXPECT_EQ(uploads.next, "");
  const auto parts = parse_parts("<ListPartsResult><IsTruncated>true</IsTruncated></ListPartsResult>");
  EXPECT_FALSE(parts.is_last);
  EXPECT_EQ(parts.next, "");
}

}  // namespace
