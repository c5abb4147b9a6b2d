#include "store/objects/object_content.hpp"

#include <algorithm>
#include <cstddef>

#include "base/text.hpp"
#include "store/http/request.hpp"

namespace plait::store {

std::string encode_content(const ObjectContent& content) {
  return base::text(content.bytes, ' ', content.identity.numbers[0], ' ', content.identity.tag);
}

std::optional<ObjectContent> decode_content(std::string_view encoded) {
  const std::size_t first = encoded.find(' ');
  const std::size_t second = std::min(encoded.find(' ', first + 1), encoded.size());
  if (first == std::string_view::npos || second == encoded.size()) return std::nullopt;
  ObjectContent content;
  content.bytes = http::parse_count(encoded.substr(0, first));
  content.identity.numbers[0] = http::parse_count(encoded.substr(first + 1, second - first - 1));
  content.identity.tag = encoded.substr(second + 1);
  return content.bytes >= 0 ? std::optional(content) : std::nullopt;
}

}  // namespace plait::store
