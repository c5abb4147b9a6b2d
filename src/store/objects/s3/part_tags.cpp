// The ETag of a part is the MD5 of its bytes in hexadecimal. The ETag of an object of several parts is the MD5 of the
// MD5s of the parts, 16 bytes each, with the number of parts after it.
//
// Example: the part `abc` has the ETag "900150983cd24fb0d6963f7d28e17f72". An object of this part alone has the ETag
// "af5da9f45af7a300e3aded972f8ff687-1".

#include "store/objects/s3/part_tags.hpp"

#include <sodium.h>

#include <array>

#include "base/text.hpp"
#include "store/objects/s3/open_ssl.hpp"

namespace plait::store::s3 {

namespace {

using Md5 = std::array<unsigned char, 16>;

std::string_view unquoted(std::string_view tag) {
  const bool quoted = tag.size() >= 2 && tag.front() == '"' && tag.back() == '"';
  return quoted ? tag.substr(1, tag.size() - 2) : tag;
}

/// Parses the MD5 in an ETag. Returns false if the ETag is something else.
bool parse_tag(std::string_view tag, Md5& hash) {
  const std::string_view digits = unquoted(tag);
  std::size_t size = 0;
  return digits.size() == 2 * hash.size() &&
         ::sodium_hex2bin(hash.data(), hash.size(), digits.data(), digits.size(), nullptr, &size, nullptr) == 0 &&
         size == hash.size();
}

}  // namespace

bool is_md5_tag(std::string_view tag, std::span<const std::byte> bytes) {
  Md5 stated{};
  Md5 computed{};
  return parse_tag(tag, stated) && hash_by_open_ssl(HashFunction::kMd5, bytes, computed) && stated == computed;
}

std::string joined_tag(const std::vector<SentPart>& parts) {
  std::vector<Md5> hashes;
  for (const SentPart& part : parts)
    if (!parse_tag(part.tag, hashes.emplace_back())) return {};
  Md5 joined{};
  if (!hash_by_open_ssl(HashFunction::kMd5, std::as_bytes(std::span(hashes)), joined)) return {};
  std::array<char, 2 * joined.size() + 1> digits{};
  ::sodium_bin2hex(digits.data(), digits.size(), joined.data(), joined.size());
  return base::text('"', digits.data(), '-', parts.size(), '"');
}

}  // namespace plait::store::s3
