#include "container/fill_value.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/errors.hpp"
#include "container/npy/encoding.hpp"
#include "container/npy/npy_header.hpp"
#include "container/npy/record_type.hpp"

namespace plait::container::zarr {

namespace {

using nlohmann::json;

/// Returns the bits of a number of half precision (IEEE 754 binary16); nothing if it does not have exactly that value.
/// Example: 1.5 is 0.75 * 2^1, a multiple of the unit 2^-10: 1536 units. The bits are (14 << 10) + 1536 = 0x3e00.
std::optional<std::uint64_t> half_bits(double value) {
  const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  if (std::isinf(value)) return sign | 0x7c00;
  if (value == 0) return sign;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // 0.5 to 1
  if (exponent > 16) return std::nullopt;
  // Subnormal numbers count units of 2^-24.
  const int unit = std::max(exponent - 11, -24);
  const double units = std::ldexp(fraction, exponent - unit);
  if (units != std::floor(units)) return std::nullopt;
  const auto count = static_cast<std::uint64_t>(units);
  // A normal number has 11 bits, of which the highest is 1. Adding it increments the exponent field, which is right:
  // the exponent field of the smallest normal numbers is 1, and that of subnormal ones 0.
  return sign | ((static_cast<std::uint64_t>(unit + 24) << 10) + count);
}

/// Returns a real number, which Zarr spells as a string if it is NaN or infinite; nothing if `value` is no real number.
std::optional<double> parse_real(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

/// Returns the bits of a real number of `bytes` bytes; nothing if the type has no such value.
std::optional<std::uint64_t> real_bits(const json& value, std::size_t bytes) {
  // A string 0x... states the bits directly, for example those of a NaN with a payload.
  if (value.is_string() && value.get_ref<const std::string&>().starts_with("0x")) {
    const std::string& digits = value.get_ref<const std::string&>();
    std::uint64_t bits = 0;
    const char* const end = digits.data() + digits.size();
    const auto [last, error] = std::from_chars(digits.data() + 2, end, bits, 16);
    if (error != std::errc() || last != end || digits.size() != 2 + 2 * bytes) return std::nullopt;
    return bits;
  }
  const std::optional<double> number = parse_real(value);
  if (!number) return std::nullopt;
  if (bytes == 2) return half_bits(*number);
  if (bytes == 4) return std::bit_cast<std::uint32_t>(static_cast<float>(*number));
  return std::bit_cast<std::uint64_t>(*number);
}

/// Returns the bits of one number of `bytes` bytes; nothing if the type has no such value. `kind` is the type code of
/// its dtype, such as `f` of `<f8`.
std::optional<std::uint64_t> parse_bits(const json& value, char kind, std::size_t bytes) {
  if (kind == 'f') return real_bits(value, bytes);
  if (kind == 'b') {
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    return value == 0 ? std::optional<std::uint64_t>(0) : value == 1 ? std::optional<std::uint64_t>(1) : std::nullopt;
  }
  const std::size_t bits = 8 * bytes;
  // Numbers that C++ code has put into the JSON may have a signed type although they are not negative.
  if (value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0)) {
    const auto number = value.get<std::uint64_t>();
    const std::size_t digits = kind == 'u' ? bits : bits - 1;
    return digits == 64 || number >> digits == 0 ? std::optional(number) : std::nullopt;
  }
  // Version 2 of Zarr writes 0.0 as the fill value of integer types.
  if (value.is_number_float() && value.get<double>() == 0) return 0;
  if (!value.is_number_integer() || kind == 'u') return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return bits == 64 || number >= -(std::int64_t{1} << (bits - 1)) ? std::optional(static_cast<std::uint64_t>(number))
                                                                  : std::nullopt;
}

/// Returns true for texts and bytes.
bool is_uninterpreted(const std::string& dtype) {
  return std::string_view("SUV").find(dtype[1]) != std::string_view::npos;
}
bool is_time(const std::string& dtype) { return dtype[1] == 'M' || dtype[1] == 'm'; }
bool is_hexadecimal(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().starts_with("0x");
}

/// Formats bytes as the hexadecimal digits that encode_fill() reads.
std::string to_hexadecimal(const std::vector<std::byte>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "0x";
  for (const std::byte byte : bytes) {
    out += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    out += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return out;
}

/// Decodes hexadecimal digits after `0x`, and pads the element with zeros to `bytes` bytes; the result is empty if
/// `value` is no such string, or is too long.
std::vector<std::byte> parse_hexadecimal(const json& value, std::size_t bytes) {
  if (!value.is_string()) return {};
  std::string_view digits = value.get_ref<const std::string&>();
  if (!digits.starts_with("0x") || digits.size() % 2 != 0 || digits.size() > 2 + 2 * bytes) return {};
  std::vector<std::byte> result(bytes);
  digits.remove_prefix(2);
  for (std::size_t i = 0; 2 * i < digits.size(); ++i) {
    unsigned byte = 0;
    const char* const begin = digits.data() + 2 * i;
    const auto [last, error] = std::from_chars(begin, begin + 2, byte, 16);
    if (error != std::errc() || last != begin + 2) return {};
    result[i] = static_cast<std::byte>(byte);
  }
  return result;
}

}  // namespace

std::vector<std::byte> encode_fill(const json& value, const std::string& dtype) {
  if (dtype.size() < 3) return {};
  if (npy::is_record(dtype)) {
    const auto record_bytes = static_cast<std::size_t>(npy::dtype_bytes(dtype));
    const bool is_whole = value.is_string() && value.get_ref<const std::string&>().size() == 2 + 2 * record_bytes;
    return is_whole ? parse_hexadecimal(value, record_bytes) : std::vector<std::byte>();
  }
  if (is_uninterpreted(dtype) || (is_time(dtype) && is_hexadecimal(value)))
    return parse_hexadecimal(value, static_cast<std::size_t>(npy::dtype_bytes(dtype)));
  if (is_time(dtype) && value == "NaT") return encode_fill(std::numeric_limits<std::int64_t>::min(), dtype);
  const bool is_complex = dtype[1] == 'c';
  const char kind = is_complex ? 'f' : is_time(dtype) ? 'i' : dtype[1];
  std::size_t number_bytes = 0;
  std::from_chars(dtype.data() + 2, dtype.data() + dtype.size(), number_bytes);
  const std::size_t count = is_complex ? 2 : 1;
  number_bytes /= count;
  if (number_bytes > sizeof(std::uint64_t) || std::string_view("biuf").find(kind) == std::string_view::npos) return {};
  std::vector<std::byte> element;
  for (std::size_t part = 0; part < count; ++part) {
    json number = value;
    if (is_complex && value.is_array() && value.size() == 2)
      number = value[part];
    else if (is_complex && part == 1)
      number = 0;
    const std::optional<std::uint64_t> bits = parse_bits(number, kind, number_bytes);
    if (!bits) return {};
    for (std::size_t i = 0; i < number_bytes; ++i) {
      const std::size_t significance = dtype[0] == '>' ? number_bytes - 1 - i : i;
      element.push_back(static_cast<std::byte>(*bits >> (8 * significance) & 0xff));
    }
  }
  return element;
}

std::vector<std::byte> encode_text_element(std::string_view text, const std::string& dtype) {
  std::vector<std::byte> element(static_cast<std::size_t>(npy::dtype_bytes(dtype)));
  if (dtype[1] == 'S') {
    if (text.size() > element.size()) return {};
    std::ranges::transform(text, element.begin(), [](char c) { return static_cast<std::byte>(c); });
    return element;
  }
  for (std::size_t at = 0; !text.empty(); at += 4) {
    const std::optional<std::uint32_t> code = npy::take_code_point(text);
    if (!code || at == element.size()) return {};
    for (std::size_t i = 0; i < 4; ++i)
      element[at + (dtype[0] == '>' ? 3 - i : i)] = static_cast<std::byte>(*code >> (8 * i) & 0xff);
  }
  return element;
}

std::string parse_text_fill(const std::string& path, const std::string& notation) {
  const json text = notation.empty() ? json("") : json::parse(notation, nullptr, false);
  if (!text.is_string())
    base::throw_argument_error(path, ": the fill value ", notation,
                               " is none that texts can have; give one in quotation marks, as JSON has texts");
  return text.get<std::string>();
}

json parse_fill_value(const std::string& path, const std::string& notation, const std::string& dtype) {
  json value;
  if (notation == "NaN" || notation == "Infinity" || notation == "-Infinity" || notation == "NaT" ||
      notation.starts_with("0x"))
    value = notation;
  else
    value = json::parse(notation, nullptr, false);
  if (dtype.size() > 2 && (dtype[1] == 'S' || dtype[1] == 'U') && value.is_string() && notation.starts_with('"')) {
    const std::vector<std::byte> element = encode_text_element(value.get<std::string>(), dtype);
    value = element.empty() ? json() : json(to_hexadecimal(element));
  }
  const bool is_complex = dtype.size() > 1 && dtype[1] == 'c';
  if (is_complex && !value.is_discarded() && !value.is_array()) value = json::array({value, 0.0});
  if (value.is_discarded() || encode_fill(value, dtype).empty())
    base::throw_argument_error(path, ": the fill value ", notation, " is none that elements of dtype ", dtype,
                               " can have; give another one");
  return value;
}

}  // namespace plait::container::zarr
