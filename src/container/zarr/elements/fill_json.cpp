#include "container/zarr/elements/fill_json.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/attributes_json.hpp"
#include "container/fill_value.hpp"
#include "container/npy/encoding.hpp"
#include "container/npy/npy_header.hpp"
#include "container/npy/record_type.hpp"
#include "container/zarr/elements/base64.hpp"
#include "container/zarr/elements/element_types.hpp"

namespace plait::container::zarr {

namespace {

using nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// Pads bytes with zeros to the size of an element; the result is empty if there are too many bytes.
std::vector<std::byte> pad(std::vector<std::byte> bytes, std::size_t size) {
  if (bytes.size() > size) return {};
  bytes.resize(size);
  return bytes;
}

/// Reads an object with a value for each field of a record; padding is zero.
std::vector<std::byte> read_record(const json& value, const std::string& dtype) {
  std::vector<std::byte> element(static_cast<std::size_t>(npy::dtype_bytes(dtype)));
  for (const npy::RecordField& field : npy::parse_record(dtype)) {
    const auto own = value.find(field.name);
    // Fields that are arrays have no fill value of one number.
    if (own == value.end() || !field.shape.empty()) return {};
    const std::vector<std::byte> part = read_fill(*own, field.dtype);
    if (part.empty()) return {};
    std::ranges::copy(part, element.begin() + field.offset);
  }
  return element;
}

/// Reads bytes: Base64, or a list of numbers (Zarr core 3.0, raw types). Version 2 also has bytes as texts.
std::vector<std::byte> read_bytes(const json& value, const std::string& dtype, std::size_t size) {
  if (value.is_number() && value == 0) return std::vector<std::byte>(size);
  if (value.is_object() && dtype.starts_with('[')) return read_record(value, dtype);
  std::vector<std::byte> bytes;
  if (value.is_array()) {
    for (const json& element : value) {
      if (!element.is_number_unsigned() || element.get<std::uint64_t>() > 255) return {};
      bytes.push_back(static_cast<std::byte>(element.get<std::uint64_t>()));
    }
    return bytes.size() == size ? bytes : std::vector<std::byte>();
  }
  if (!value.is_string()) return {};
  const std::string& text = value.get_ref<const std::string&>();
  if (auto decoded = decode_base64(text); decoded && decoded->size() <= size) return pad(std::move(*decoded), size);
  if (dtype_kind(dtype) != 'S') return {};
  bytes.resize(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return pad(std::move(bytes), size);
}

/// Returns the text of an element in UTF-32, without the zeros at its end; nothing if a code is not a character.
std::optional<std::string> to_text(std::span<const std::byte> element, bool is_little_endian) {
  std::string text;
  std::size_t end = 0;  // end of the text without zeros
  for (std::size_t at = 0; at < element.size(); at += 4) {
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < 4; ++i)
      code |= std::to_integer<std::uint32_t>(element[at + (is_little_endian ? i : 3 - i)]) << (8 * i);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return std::nullopt;
    npy::append_utf8(text, code);
    if (code != 0) end = text.size();
  }
  text.resize(end);
  return text;
}

/// Returns the default fill value: zero.
OrderedJson zero_json(const std::string& dtype) {
  switch (dtype_kind(dtype)) {
    case 'b': return false;
    case 'c': return OrderedJson::array({0.0, 0.0});
    case 'f': return 0.0;
    case 'S':
    case 'U': return "";
    case 'V': return encode_base64(std::vector<std::byte>(static_cast<std::size_t>(npy::dtype_bytes(dtype))));
    default: return 0;
  }
}

}  // namespace

std::vector<std::byte> read_fill(const json& value, const std::string& dtype) {
  const char kind = dtype_kind(dtype);
  if (kind != 'S' && kind != 'V' && kind != 'U') return encode_fill(value, dtype);
  if (kind != 'U') return read_bytes(value, dtype, static_cast<std::size_t>(npy::dtype_bytes(dtype)));
  if (value.is_number() && value == 0) return std::vector<std::byte>(static_cast<std::size_t>(npy::dtype_bytes(dtype)));
  return value.is_string() ? encode_text_element(value.get_ref<const std::string&>(), dtype) : std::vector<std::byte>();
}

OrderedJson fill_json(const std::string& path, const std::string& given, const std::string& dtype) {
  if (given.empty()) return zero_json(dtype);
  const json value = parse_fill_value(path, given, dtype);
  const char kind = dtype_kind(dtype);
  if (std::string_view("SVUMm").find(kind) == std::string_view::npos) return value;
  std::vector<std::byte> element = encode_fill(value, dtype);
  if (kind == 'V') return encode_base64(element);
  if (kind == 'S') {
    while (!element.empty() && element.back() == std::byte{}) element.pop_back();
    return encode_base64(element);
  }
  if (kind == 'U') {
    const std::optional<std::string> text = to_text(element, dtype[0] != '>');
    if (!text) base::throw_argument_error(path, ": the fill value ", given, " is no text in UTF-32; give another one");
    return marked_text(*text);
  }
  if (dtype[0] == '>') std::ranges::reverse(element);
  std::int64_t ticks = 0;
  std::memcpy(&ticks, element.data(), sizeof ticks);
  return ticks;
}

}  // namespace plait::container::zarr
