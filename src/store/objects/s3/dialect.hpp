/// Differences between servers that have the interface of S3.
#pragma once

#include <string_view>

namespace plait::store::s3 {

/// The names that a server has for its own headers and in signatures. Signatures are otherwise computed alike.
struct Dialect {
  std::string_view scheme;     ///< of the names of arrays, such as `s3`
  std::string_view headers;    ///< begin of its own headers
  std::string_view algorithm;  ///< name of the signature's algorithm
  std::string_view version;    ///< begin of the secret from which the key of a day is derived
  std::string_view service;
  std::string_view request;  ///< end of the scope of a signature
  /// Puts compare the number of the content, its generation, instead of its ETag.
  bool has_generations;
};

/// S3: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
inline constexpr Dialect kAmazon{
    "s3", "x-amz-", "AWS4-HMAC-SHA256", "AWS4", "s3", "aws4_request", false,
};
/// The XML API of Google Cloud Storage. It rejects requests with headers of both dialects.
/// https://cloud.google.com/storage/docs/authentication/signatures
inline constexpr Dialect kGoogle{
    "gs", "x-goog-", "GOOG4-HMAC-SHA256", "GOOG4", "storage", "goog4_request", true,
};

}  // namespace plait::store::s3
