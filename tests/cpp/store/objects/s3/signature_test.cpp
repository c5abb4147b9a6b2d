// Signatures of S3, with the examples of AWS's documentation ("Signature Calculations for the Authorization Header").
#include "store/objects/s3/signature.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

using plait::store::http::Header;
using plait::store::http::Request;
using plait::store::s3::Credentials;
using plait::store::s3::kEmptyHash;
using plait::store::s3::sha256_hex;
using plait::store::s3::sign;

const Credentials kExample{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
constexpr std::int64_t kDay = 1369353600;  // 2013-05-24T00:00:00Z

/// Returns the value of a header; empty if the request has no such header.
std::string header_value(const Request& request, std::string_view name) {
  for (const Header& header : request.headers)
    if (header.name == name) return header.value;
  return {};
}

/// Signs a request, and returns the signature in its header Authorization.
std::string signature(Request request, const Credentials& credentials = kExample) {
  if (header_value(request, "x-amz-content-sha256").empty())
    request.headers.push_back({"x-amz-content-sha256", std::string(kEmptyHash)});
  sign(request, credentials, {"us-east-1", kDay});
  const std::string authorization = header_value(request, "Authorization");
  return authorization.substr(authorization.rfind('=') + 1);
}

std::string url(std::string_view path) { return "https://examplebucket.s3.amazonaws.com" + std::string(path); }

TEST(Signature, OfAnObjectWithARange) {
  EXPECT_EQ(signature({.url = url("/test.txt"), .headers = {{"Range", "bytes=0-9"}}}),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(Signature, OfAPut) {
  const std::string_view body = "Welcome to Amazon S3.";
  const std::string hash = sha256_hex(std::as_bytes(std::span(body)));
  EXPECT_EQ(hash, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
  EXPECT_EQ(signature({.method = "PUT",
                       .url = url("/test%24file.text"),
                       .headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                                   {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                                   {"x-amz-content-sha256", hash}}}),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(Signature, OfQueriesInAnyOrder) {
  EXPECT_EQ(signature({.url = url("/?lifecycle")}), "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  for (const char* query : {"/?max-keys=2&prefix=J", "/?prefix=J&max-keys=2"})
    EXPECT_EQ(signature({.url = url(query)}), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(Signature, NamesWhatItSigns) {
  Credentials temporary = kExample;
  temporary.session_token = "token";
  Request request{.url = url("/a"), .headers = {{"x-amz-content-sha256", std::string(kEmptyHash)}}};
  sign(request, temporary, {"eu-west-3", kDay + 86399});
  EXPECT_EQ(header_value(request, "x-amz-date"), "20130524T235959Z");
  EXPECT_EQ(header_value(request, "x-amz-security-token"), "token");
  EXPECT_TRUE(header_value(request, "Authorization")
                  .starts_with("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/eu-west-3/s3/aws4_request,"
                               "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,Signature="));
  EXPECT_EQ(header_value(request, "Authorization").find(temporary.secret_key), std::string::npos);
}

}  // namespace
