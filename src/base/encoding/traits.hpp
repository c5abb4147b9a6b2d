/// Concepts for the classes of types that encoders and decoders distinguish.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <variant>

namespace plait::base {

/// The type of the argument of fields(): const for encoders, because only decoders change the record.
template <class Codec, class T>
using Record = std::conditional_t<Codec::kDecodes, T, const T>;

namespace encoding {

template <class T>
concept Number =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8) || std::is_same_v<T, std::byte>;

/// A record of numbers without padding that opts in by `static constexpr bool kContiguousFields = true`: fields() lists
/// all of them in the order of their declaration, so that the encoding of a vector of such records is its memory.
template <class T>
concept ContiguousRecord = requires { requires T::kContiguousFields; } && std::is_trivially_copyable_v<T> &&
                           std::has_unique_object_representations_v<T>;

/// Types whose vectors are copied as a whole.
template <class T>
concept Bulk = Number<T> || ContiguousRecord<T>;

template <class T>
concept Optional = requires(T value) {
  value.has_value();
  value.reset();
};

template <class T>
concept Map = requires { typename T::mapped_type; };

/// Vectors and strings.
template <class T>
concept Sequence = requires(T value) {
  value.data();
  value.resize(std::size_t{1});
};

template <class T>
concept Variant = requires { std::variant_size<T>::value; };

/// Pairs, tuples and arrays of fixed length.
template <class T>
concept Tuple = requires { std::tuple_size<T>::value; };

/// Maps signed integers to unsigned ones, those of small magnitude to small ones: 0, -1, 1, -2 to 0, 1, 2, 3.
template <class Integer>
constexpr std::uint64_t folded(Integer value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if constexpr (std::is_unsigned_v<Integer>) return bits;
  return (bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0);
}

/// The inverse of folded().
template <class Integer>
constexpr Integer unfolded(std::uint64_t bits) {
  if constexpr (std::is_unsigned_v<Integer>) return static_cast<Integer>(bits);
  return static_cast<Integer>((bits >> 1) ^ (0 - (bits & 1)));
}

/// Returns the number of alternatives of a variant. One byte encodes which of them is present.
template <class T>
constexpr std::size_t alternatives() {
  static_assert(std::variant_size_v<T> <= 256);
  return std::variant_size_v<T>;
}

/// Returns the largest value of an enumeration, whose namespace has `constexpr E last_value(E)`. The values count from
/// 0.
template <class E>
constexpr std::uint8_t last_enumerator() {
  constexpr auto kLast = static_cast<std::uint64_t>(last_value(E{}));
  static_assert(kLast < 256);
  return static_cast<std::uint8_t>(kLast);
}

}  // namespace encoding

}  // namespace plait::base
