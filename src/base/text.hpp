/// Small helpers that put texts together.
#pragma once

#include <cstdint>
#include <span>
#include <sstream>
#include <string>

namespace plait::base {

/// The arguments printed one behind the other.  errors  std::bad_alloc, instead of a text that is cut.
template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);
  (out << ... << parts);
  return out.str();
}

/// `(4, 8)`.
std::string tuple_text(std::span<const std::int64_t> values);
/// `1.5 MiB`, `640 B`.
std::string bytes_text(std::int64_t bytes);

}  // namespace plait::base
