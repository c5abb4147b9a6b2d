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

struct Element {
  Kind kind = Kind::kBool;
  std::int64_t bytes = 0;
  bool swapped = false;

  std::int64_t part() const { return kind == Kind::kComplex ? bytes / 2 : bytes; }
};

using Types = std::tuple<bool, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
                         std::int32_t, std::int64_t, float, double, std::complex<float>, std::complex<double>>;
constexpr std::size_t kTypes = std::tuple_size_v<Types>;

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
To converted(From value) {
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
    const To result = converted<From, To>(value);
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof(To)), &result, sizeof(To));
  }
}

using Body = void (*)(const std::byte*, std::byte*, std::int64_t);

template <typename From, typename To>
constexpr Body body_for() {
  // Casts to an earlier kind are not instantiated, because no rule allows them.
  if constexpr (element_kind<From>() > element_kind<To>()) {
    return nullptr;
  } else {
    return cast_all<From, To>;
  }
}

template <typename From, std::size_t... kTo>
constexpr std::array<Body, kTypes> bodies_from(std::index_sequence<kTo...> /*all*/) {
  return {body_for<From, std::tuple_element_t<kTo, Types>>()...};
}

template <std::size_t... kAll>
constexpr std::array<std::array<Body, kTypes>, kTypes> all_bodies(std::index_sequence<kAll...> all) {
  return {bodies_from<std::tuple_element_t<kAll, Types>>(all)...};
}

template <std::size_t... kAll>
std::size_t type_index(const Element& element, std::index_sequence<kAll...> /*all*/) {
  std::size_t index = kTypes;
  ((element_kind<std::tuple_element_t<kAll, Types>>() == element.kind &&
            sizeof(std::tuple_element_t<kAll, Types>) == static_cast<std::size_t>(element.bytes)
        ? void(index = kAll)
        : void()),
   ...);
  return index;
}

std::optional<Element> parse(std::string_view dtype) {
  if (dtype.size() < 3) return std::nullopt;
  constexpr std::string_view kKinds = "buifc";
  const std::size_t kind = kKinds.find(dtype[1]);
  Element element;
  const std::string_view digits = dtype.substr(2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), element.bytes);
  if (kind == std::string_view::npos || error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  element.kind = static_cast<Kind>(kind);
  constexpr char kOther = std::endian::native == std::endian::little ? '>' : '<';
  element.swapped = dtype[0] == kOther && element.part() > 1;
  if (std::string_view("<>|=").find(dtype[0]) == std::string_view::npos) return std::nullopt;
  return element;
}

/// True if the type `to` can represent each value of the type `from`.
bool is_safe(const Element& from, const Element& to) {
  const std::int64_t part = to.part();
  if (from.kind > to.kind) return false;
  switch (from.kind) {
    case Kind::kBool: return true;
    case Kind::kReal:
    case Kind::kComplex: return part >= from.part();
    default: break;
  }
  if (to.kind == from.kind) return part >= from.bytes;
  if (to.kind == Kind::kSigned) return part > from.bytes;
  // NumPy treats a cast of 8-byte integers to double as safe.
  return from.bytes < part || part == 8;
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
  static constexpr auto kBodies = all_bodies(std::make_index_sequence<kTypes>());
  const auto source = parse(from);
  const auto target = parse(to);
  if (!source || !target || casting == Casting::kNo) return std::nullopt;
  if (casting == Casting::kSafe && !is_safe(*source, *target)) return std::nullopt;
  constexpr auto kAll = std::make_index_sequence<kTypes>();
  const std::size_t source_index = type_index(*source, kAll);
  const std::size_t target_index = type_index(*target, kAll);
  // Types for which no loop exists, such as 16-byte real numbers, can still change their byte order.
  const bool same = source->kind == target->kind && source->bytes == target->bytes;
  if (!same && (source_index == kTypes || target_index == kTypes || kBodies[source_index][target_index] == nullptr))
    return std::nullopt;
  ElementCast cast;
  cast.source_bytes_ = source->bytes;
  cast.target_bytes_ = target->bytes;
  cast.swap_source_ = source->swapped ? static_cast<std::size_t>(source->part()) : 1;
  cast.swap_target_ = target->swapped ? static_cast<std::size_t>(target->part()) : 1;
  cast.body_ = source_index == kTypes || target_index == kTypes ? nullptr : kBodies[source_index][target_index];
  return cast;
}

void ElementCast::run(std::byte* from, std::byte* to, std::int64_t count) const {
  const auto parts = [count](std::int64_t bytes, std::size_t part) {
    return count * (bytes / static_cast<std::int64_t>(part));
  };
  if (swap_source_ > 1) reverse_bytes(from, swap_source_, parts(source_bytes_, swap_source_));
  if (body_ != nullptr) {
    body_(from, to, count);
  } else {
    std::memcpy(to, from, static_cast<std::size_t>(count * source_bytes_));
  }
  if (swap_target_ > 1) reverse_bytes(to, swap_target_, parts(target_bytes_, swap_target_));
}

}  // namespace plait::copy
