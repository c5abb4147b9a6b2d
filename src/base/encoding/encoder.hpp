/// Encodes values as bytes, for messages between processes and for files.
///
/// Each record lists its fields once, for both directions, in a function that argument-dependent lookup finds:
///
///     struct Variable { std::string name; Extents shape; std::optional<double> fill; };
///     template <class Codec>
///     void fields(Codec& codec, base::Record<Codec, Variable>& variable) {
///       codec(variable.name, variable.shape, variable.fill);
///     }
///     const std::string bytes = base::encode(variable);
///     const auto copy = base::decode<Variable>(bytes, base::kAnotherRank);
///
/// The encoding is canonical: equal values have equal bytes, and a Decoder accepts no others.  It has no tags and no
/// names, so both ends need the same lists of fields: messages between programs carry a version, files their own.
///
///     number               its bytes, the lowest first; floating point as IEEE 754
///     bool, enumeration    one byte
///     length               seven bits a byte, the lowest first; the top bit is set in all but the last
///     string, vector, map  its length, then the elements; maps by ascending keys
///     optional, variant    one byte, 0 or 1, or the number of the alternative; then the value
///     pair, tuple, array   the elements
///     record               the fields
///
/// Example: Variable{"t", {3}, 0.5} is 01 't', 01 03 00 00 00 00 00 00 00, 01 00 00 00 00 00 00 e0 3f.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "base/encoding/traits.hpp"

namespace plait::base {

/// Appends the encoding of values to a string.
class Encoder {
 public:
  static constexpr bool kDecodes = false;

  template <class... Values>
  Encoder& operator()(const Values&... values) {
    (put(values), ...);
    return *this;
  }

  /// Encodes the length of a sequence and returns it, for fields() functions that encode the elements themselves. The
  /// second argument, the minimum number of bytes of an element, is for Decoders.
  std::size_t length(std::size_t count, std::size_t /*min_bytes*/) {
    put_compact(count);
    return count;
  }
  /// Encodes an integer like a length, so that small ones take one byte. Signed integers 0, -1, 1, -2, ... are encoded
  /// as 0, 1, 2, 3, ...
  template <class Integer>
  void compact(Integer value) {
    put_compact(encoding::folded(value));
  }

  const std::string& text() const { return bytes_; }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }
  std::string take() { return std::move(bytes_); }

 private:
  void put_compact(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }

  template <class T>
  void put_number(T value) {
    auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
    bytes_.append(raw.data(), raw.size());
  }

  template <class T>
  void put_sequence(const T& values) {
    using Element = typename T::value_type;
    put_compact(values.size());
    if constexpr (encoding::Bulk<Element> && (sizeof(Element) == 1 || std::endian::native == std::endian::little)) {
      if (!values.empty()) bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Element));
    } else {
      for (const Element& value : values) put(value);
    }
  }

  template <class T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      bytes_ += value ? '\1' : '\0';
    } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, std::byte>) {
      static_assert(encoding::last_enumerator<T>() > 0);
      bytes_ += static_cast<char>(value);
    } else if constexpr (encoding::Number<T>) {
      put_number(value);
    } else if constexpr (encoding::Sequence<T> || std::is_same_v<T, std::string_view>) {
      put_sequence(value);
    } else if constexpr (encoding::Map<T>) {
      put_compact(value.size());
      for (const auto& [key, mapped] : value) (*this)(key, mapped);
    } else if constexpr (encoding::Optional<T>) {
      put(value.has_value());
      if (value) put(*value);
    } else if constexpr (encoding::Variant<T>) {
      static_assert(encoding::alternatives<T>() > 0);
      bytes_ += static_cast<char>(value.index());
      std::visit([this](const auto& alternative) { this->put(alternative); }, value);
    } else if constexpr (encoding::Tuple<T>) {
      std::apply(*this, value);
    } else {
      fields(*this, value);
    }
  }

  std::string bytes_;
};

/// Encodes values.
/// errors  std::bad_alloc.
template <class... Values>
std::string encode(const Values&... values) {
  Encoder encoder;
  encoder(values...);
  return encoder.take();
}

}  // namespace plait::base
