/// ETags of parts, and of the objects that they make.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/objects/object_upload.hpp"

namespace plait::store::s3 {

/// Returns true if the ETag of a part is the MD5 of these bytes. False if OpenSSL is missing, or if the server makes
/// other ETags, as it does for objects that it encrypts with keys of its customers.
bool is_md5_tag(std::string_view tag, std::span<const std::byte> bytes);

/// Returns the ETag of an object that consists of these parts: `"MD5-COUNT"`, where MD5 is that of the MD5s of the
/// parts. Empty if their ETags are not MD5s, or if OpenSSL is missing.
std::string joined_tag(const std::vector<SentPart>& parts);

}  // namespace plait::store::s3
