/// Elements of one numeric type as those of another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plait::copy {

/// Which conversions are made, as in NumPy.
enum class Casting : std::uint8_t {
  kNo,       ///< none
  kSafe,     ///< those that keep every value; the order of bytes
  kSameKind  ///< also narrower types of the kind, and of a kind further on in: bool, unsigned, signed, real, complex
};
constexpr Casting last_value(Casting /*any*/) { return Casting::kSameKind; }

/// `no`, `safe`, `same_kind`; nothing for another word.
std::optional<Casting> parse_casting(std::string_view word);
const char* to_string(Casting casting);

/// How elements of `from` become those of `to`, dtypes as .npy files spell them: bool, whole numbers of 1 to 8 bytes,
/// real and complex ones of 4 and 8 bytes a part, in either order of bytes; and other real and complex ones where only
/// the order of bytes differs.  Wider values are cut to the lower bits of
/// a narrower whole number, and rounded to a narrower real one, as in C.
/// threads  Any.
class ElementCast {
 public:
  /// Nothing where `casting` does not allow it, or a dtype is none of those.
  static std::optional<ElementCast> find(std::string_view from, std::string_view to, Casting casting);

  std::int64_t source_bytes() const { return source_bytes_; }
  std::int64_t target_bytes() const { return target_bytes_; }
  /// Converts `count` elements that follow each other; `from` is used up.
  void run(std::byte* from, std::byte* to, std::int64_t count) const;
  bool operator==(const ElementCast&) const = default;

 private:
  using Body = void (*)(const std::byte* from, std::byte* to, std::int64_t count);
  ElementCast() = default;

  std::int64_t source_bytes_ = 0;
  std::int64_t target_bytes_ = 0;
  std::size_t swap_source_ = 1;  // bytes whose order is turned round; 1: none
  std::size_t swap_target_ = 1;
  Body body_ = nullptr;  // the bytes stay as they are
};

}  // namespace plait::copy
