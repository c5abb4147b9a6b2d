/// One content of an object, as a text for other ranks and later programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/objects/object_store.hpp"

namespace plait::store {

struct ObjectContent {
  ObjectIdentity identity{};
  std::int64_t bytes = 0;
};

/// Returns the size, the first number of the identity and its tag, such as `1000000128 0 "v7"`.
std::string encode_content(const ObjectContent& content);
/// Returns nothing if the text is not one of encode_content().
std::optional<ObjectContent> decode_content(std::string_view encoded);

}  // namespace plait::store
