/// Converts elements between numeric types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plait::copy {

/// The conversions that are allowed, as in NumPy.
enum class Casting : std::uint8_t {
  kNo,    ///< none
  kSafe,  ///< conversions that preserve every value, and changes of the byte order
  /// In addition, conversions to narrower types of the same kind, and to a later kind in the order bool, unsigned,
  /// signed, real, complex.
  kSameKind
};
/// Returns the last value of the enumeration, for the decoder of records.
constexpr Casting last_value(Casting /*any*/) { return Casting::kSameKind; }

/// Parses `no`, `safe` or `same_kind`; nullopt for another word.
std::optional<Casting> parse_casting(std::string_view word);
const char* to_string(Casting casting);

/// Converts elements of the dtype `from` to the dtype `to`, spelled as in .npy files: bool, whole numbers of 1 to 8
/// bytes, real and complex numbers with parts of 4 or 8 bytes, in either byte order; and other real and complex numbers
/// if only the byte order differs. As in C, a narrower whole number gets the lower bits of a wider one, and a narrower
/// real number is rounded.
/// threads  Any.
class ElementCast {
 public:
  /// Returns nullopt if `casting` does not allow the conversion, or a dtype is not supported.
  static std::optional<ElementCast> find(std::string_view from, std::string_view to, Casting casting);

  std::int64_t source_bytes() const { return source_bytes_; }
  std::int64_t target_bytes() const { return target_bytes_; }
  /// Converts `count` contiguous elements. The content of `from` is undefined afterwards.
  void run(std::byte* from, std::byte* to, std::int64_t count) const;
  bool operator==(const ElementCast&) const = default;

 private:
  using CastLoop = void (*)(const std::byte* from, std::byte* to, std::int64_t count);
  ElementCast() = default;

  std::int64_t source_bytes_ = 0;
  std::int64_t target_bytes_ = 0;
  std::size_t source_swap_bytes_ = 1;  // number of bytes whose order is reversed; 1: none
  std::size_t target_swap_bytes_ = 1;
  CastLoop loop_ = nullptr;  // nullptr: the bytes are copied
};

}  // namespace plait::copy
