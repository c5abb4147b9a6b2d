/// Decodes values that an Encoder has encoded (encoder.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "base/encoding/traits.hpp"

namespace plait::base {

/// Describes the origin of encoded bytes in errors.
struct EncodingSource {
  const char* content;  ///< names the bytes: `a message from another rank`
  const char* advice;   ///< advice if they are damaged
  int code;             ///< code of the Error
};

/// The source for messages between ranks of one program.
extern const EncodingSource kAnotherRank;

/// Decodes values from bytes, which must stay valid meanwhile. Bytes from other processes may be damaged in any way:
/// no read passes their end, and memory is reserved only for elements whose bytes exist.
class Decoder {
 public:
  static constexpr bool kDecodes = true;

  Decoder(std::string_view bytes, const EncodingSource& source)
      : rest_(bytes), length_(bytes.size()), source_(&source) {}
  Decoder(std::span<const std::byte> bytes, const EncodingSource& source)
      : Decoder(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), source) {}

  /// Decodes values. A std::string_view becomes a view of the encoded bytes.
  /// errors  The source's code: no Encoder encodes such values to these bytes.
  template <class... Values>
  Decoder& operator()(Values&... values) {
    (get(values), ...);
    return *this;
  }

  /// Decodes a length. `count` is an argument for Encoders and not used; an element has at least `min_bytes` bytes.
  std::size_t length(std::size_t /*count*/, std::size_t min_bytes) { return get_length(min_bytes); }
  /// Decodes an integer that Encoder::compact() has encoded.
  template <class Integer>
  void compact(Integer& value) {
    const std::uint64_t bits = get_compact();
    value = encoding::unfolded<Integer>(bits);
    if (encoding::folded(value) != bits) fail("a value is out of range");
  }

  /// Ends the decoding.
  /// errors  The source's code: bytes are left.
  void finish() const {
    if (!rest_.empty()) fail("bytes follow its last field");
  }

  /// Throws the error of damaged bytes. fields() of records call it for combinations of values that are not valid.
  [[noreturn]] void fail(std::string_view reason) const;

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) fail("it ends within a field");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::uint64_t get_compact();
  /// Decodes a length. `min_bytes`: minimum number of bytes of one element.
  std::size_t get_length(std::size_t min_bytes);

  std::uint8_t get_byte(std::uint8_t last) {
    const auto byte = static_cast<std::uint8_t>(take(1)[0]);
    if (byte > last) fail("a value is out of range");
    return byte;
  }

  template <class T>
  void get_number(T& value) {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), take(sizeof(T)).data(), sizeof(T));
    if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
    value = std::bit_cast<T>(raw);
  }

  template <class T>
  void get_sequence(T& values) {
    using Element = typename T::value_type;
    if constexpr (encoding::Bulk<Element> && (sizeof(Element) == 1 || std::endian::native == std::endian::little)) {
      const std::size_t count = get_length(sizeof(Element));
      const std::string_view raw = take(count * sizeof(Element));
      if constexpr (sizeof(Element) == 1) {
        const auto* first = reinterpret_cast<const Element*>(raw.data());
        values.assign(first, first + count);
      } else {
        values.resize(count);
        if (count > 0) std::memcpy(values.data(), raw.data(), raw.size());
      }
    } else {
      std::size_t left = get_length(1);
      values.clear();
      // Elements may be far larger than their encoding, so the memory reserved is at most the number of bytes.
      values.reserve(std::min(left, rest_.size() / sizeof(Element)));
      for (; left > 0; --left) get(values.emplace_back());
    }
  }

  template <class T>
  void get_map(T& map) {
    map.clear();
    for (std::size_t left = get_length(1); left > 0; --left) {
      typename T::key_type key{};
      get(key);
      if (!map.empty() && !(map.rbegin()->first < key)) fail("its keys are not in ascending order");
      get(map.emplace_hint(map.end(), std::move(key), typename T::mapped_type{})->second);
    }
  }

  template <class T, std::size_t... Indices>
  void get_variant(T& value, std::index_sequence<Indices...> /*all*/) {
    const std::size_t index = get_byte(encoding::alternatives<T>() - 1);
    (void)((index == Indices && (get(value.template emplace<Indices>()), true)) || ...);
  }

  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = get_byte(1) != 0;
    } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, std::byte>) {
      value = static_cast<T>(get_byte(encoding::last_enumerator<T>()));
    } else if constexpr (encoding::Number<T>) {
      get_number(value);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      value = take(get_length(1));
    } else if constexpr (encoding::Sequence<T>) {
      get_sequence(value);
    } else if constexpr (encoding::Map<T>) {
      get_map(value);
    } else if constexpr (encoding::Optional<T>) {
      if (get_byte(1) != 0) {
        get(value.emplace());
      } else {
        value.reset();
      }
    } else if constexpr (encoding::Variant<T>) {
      get_variant(value, std::make_index_sequence<std::variant_size_v<T>>());
    } else if constexpr (encoding::Tuple<T>) {
      std::apply(*this, value);
    } else {
      fields(*this, value);
    }
  }

  std::string_view rest_;
  std::size_t length_;
  const EncodingSource* source_;
};

/// Decodes all values that the bytes contain.
/// errors  The source's code: encode() does not encode such values to these bytes; bytes are left.
template <class Bytes, class... Values>
void decode(const Bytes& bytes, const EncodingSource& source, Values&... values) {
  Decoder decoder(bytes, source);
  decoder(values...);
  decoder.finish();
}

template <class T, class Bytes>
T decode(const Bytes& bytes, const EncodingSource& source) {
  T value{};
  decode(bytes, source, value);
  return value;
}

}  // namespace plait::base
