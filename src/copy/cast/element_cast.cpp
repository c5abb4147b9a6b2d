// Converts elements between numeric types.
//
// Idea: one loop is instantiated for each pair of types (13 x 13, without the pairs that no rule allows), and a table
// is indexed by the positions of both types in Types. Other byte orders are handled by reversing bytes before or after
// the loop.
//
// Example: ">i2" to "<f8" on a little-endian machine. The two bytes of each element are reversed in the source
// buffer, then the loop int16 to double writes the target. ">f8" to "<f8" only reverses bytes.

#include "copy/cast/element_cast.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <complex>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

namespace plait::copy {

namespace {

/// The kinds are in the order of NumPy's casting same_kind: a cast to a later kind is allowed.
enum class Kind : std::uint8_t { kBool, kUnsigned, kSigned, kReal, kComplex };

/// A numeric type: its kind, size and byte order.
struct Element {
  Kind kind = Kind::kBool;
  std::int64_t bytes = 0;
  bool is_swapped = false;

  /// Returns the number of bytes of the element, or of the real part of a complex number.
  std::int64_t part_bytes() const { return kind == Kind::kComplex ? bytes / 2 : bytes; }
};

using Types = std::tuple<bool, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
                         std::int32_t, std::int64_t, float, double, std::complex<float>, std::complex<double>>;
constexpr std::size_t kTypeCount = std::tuple_size_v<Types>;

template <typename T>
constexpr bool kIsComplex = false;
template <typename T>
constexpr bool kIsComplex<std::complex<T>> = true;

template <typename T>
constexpr Kind element_kind() {
  if (kIsComplex<T>) return Kind::kComplex;
  if (std::is_same_v<T, bool>) return Kind::kBool;
  if (std::is_floating_point_v<T>) return Kind::kReal;
  return std::is_signed_v<T> ? Kind::kSigned : Kind::kUnsigned;
}

template <typename From, typename To>
To convert(From value) {
  if constexpr (kIsComplex<From>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename From, typename To>
void cast_all(const std::byte* from, std::byte* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    From value;
    if constexpr (std::is_same_v<From, bool>) {
      value = from[i] != std::byte{0};
    } else {
      std::memcpy(&value, from + i * static_cast<std::int64_t>(sizeof(From)), sizeof(From));
    }
    const To result = convert<From, To>(value);
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof(To)), &result, sizeof(To));
  }
}

using CastLoop = void (*)(const std::byte*, std::byte*, std::int64_t);

template <typename From, typename To>
constexpr CastLoop find_loop() {
  // Casts to an earlier kind are not instantiated, because no rule allows them.
  if constexpr (element_kind<From>() > element_kind<To>()) {
    return nullptr;
  } else {
    return cast_all<From, To>;
  }
}

template <typename From, std::size_t... kTo>
constexpr std::array<CastLoop, kTypeCount> make_loops_from(std::index_sequence<kTo...> /*all*/) {
  return {find_loop<From, std::tuple_element_t<kTo, Types>>()...};
}

template <std::size_t... kAll>
constexpr std::array<std::array<CastLoop, kTypeCount>, kTypeCount> make_loop_table(std::index_sequence<kAll...> all) {
  return {make_loops_from<std::tuple_element_t<kAll, Types>>(all)...};
}

/// Returns the position of a type in Types; kTypeCount if it has none.
template <std::size_t... kAll>
std::size_t type_index(const Element& element, std::index_sequence<kAll...> /*all*/) {
  std::size_t index = kTypeCount;
  ((element_kind<std::tuple_element_t<kAll, Types>>() == element.kind &&
            sizeof(std::tuple_element_t<kAll, Types>) == static_cast<std::size_t>(element.bytes)
        ? void(index = kAll)
        : void()),
   ...);
  return index;
}

/// Parses a dtype such as `<f8`: byte order, kind and size.
std::optional<Element> parse_element(std::string_view dtype) {
  if (dtype.size() < 3) return std::nullopt;
  constexpr std::string_view kKinds = "buifc";
  const std::size_t kind = kKinds.find(dtype[1]);
  Element element;
  const std::string_view digits = dtype.substr(2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), element.bytes);
  if (kind == std::string_view::npos || error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  element.kind = static_cast<Kind>(kind);
  constexpr char kForeignOrder = std::endian::native == std::endian::little ? '>' : '<';
  element.is_swapped = dtype[0] == kForeignOrder && element.part_bytes() > 1;
  if (std::string_view("<>|=").find(dtype[0]) == std::string_view::npos) return std::nullopt;
  return element;
}

/// Returns true if the type `to` can represent each value of the type `from`.
bool is_safe(const Element& from, const Element& to) {
  const std::int64_t part_bytes = to.part_bytes();
  if (from.kind > to.kind) return false;
  switch (from.kind) {
    case Kind::kBool: return true;
    case Kind::kReal:
    case Kind::kComplex: return part_bytes >= from.part_bytes();
    default: break;
  }
  if (to.kind == from.kind) return part_bytes >= from.bytes;
  if (to.kind == Kind::kSigned) return part_bytes > from.bytes;
  // NumPy treats a cast of 8-byte integers to double as safe.
  return from.bytes < part_bytes || part_bytes == 8;
}

void reverse_bytes(std::byte* data, std::size_t bytes, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i, data += bytes) std::reverse(data, data + bytes);
}

}  // namespace

std::optional<Casting> parse_casting(std::string_view word) {
  for (const Casting casting : {Casting::kNo, Casting::kSafe, Casting::kSameKind})
    if (word == to_string(casting)) return casting;
  return std::nullopt;
}

const char* to_string(Casting casting) {
  switch (casting) {
    case Casting::kSafe: return "safe";
    case Casting::kSameKind: return "same_kind";
    case Casting::kNo: break;
  }
  return "no";
}

std::optional<ElementCast> ElementCast::find(std::string_view from, std::string_view to, Casting casting) {
  static constexpr auto kLoops = make_loop_table(std::make_index_sequence<kTypeCount>());
  const auto source = parse_element(from);
  const auto target = parse_element(to);
  if (!source || !target || casting == Casting::kNo) return std::nullopt;
  if (casting == Casting::kSafe && !is_safe(*source, *target)) return std::nullopt;
  constexpr auto kAll = std::make_index_sequence<kTypeCount>();
  const std::size_t source_index = type_index(*source, kAll);
  const std::size_t target_index = type_index(*target, kAll);
  // Types for which no loop exists, such as 16-byte real numbers, can still change their byte order.
  const bool differ_only_in_order = source->kind == target->kind && source->bytes == target->bytes;
  if (!differ_only_in_order &&
      (source_index == kTypeCount || target_index == kTypeCount || kLoops[source_index][target_index] == nullptr))
    return std::nullopt;
  ElementCast cast;
  cast.source_bytes_ = source->bytes;
  cast.target_bytes_ = target->bytes;
  cast.source_swap_bytes_ = source->is_swapped ? static_cast<std::size_t>(source->part_bytes()) : 1;
  cast.target_swap_bytes_ = target->is_swapped ? static_cast<std::size_t>(target->part_bytes()) : 1;
  cast.loop_ = source_index == kTypeCount || target_index == kTypeCount ? nullptr : kLoops[source_index][target_index];
  return cast;
}

void ElementCast::run(std::byte* from, std::byte* to, std::int64_t count) const {
  const auto parts = [count](std::int64_t bytes, std::size_t part_bytes) {
    return count * (bytes / static_cast<std::int64_t>(part_bytes));
  };
  if (source_swap_bytes_ > 1) reverse_bytes(from, source_swap_bytes_, parts(source_bytes_, source_swap_bytes_));
  if (loop_ != nullptr) {
    loop_(from, to, count);
  } else {
    std::memcpy(to, from, static_cast<std::size_t>(count * source_bytes_));
  }
  if (target_swap_bytes_ > 1) reverse_bytes(to, target_swap_bytes_, parts(target_bytes_, target_swap_bytes_));
}

}  // namespace plait::copy
