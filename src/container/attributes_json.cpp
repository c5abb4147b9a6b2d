// Reading and writing JSON with NaN and infinities.
//
// Problem: Python and Zarr write NaN and Infinity as bare words. The JSON library neither reads nor writes them, and as
// strings they could not be distinguished from texts with these contents.
//
// Idea: before parsing, marked_json() turns the words into strings that begin with the mark U+0001. A text that begins
// with the mark gets a second one. After writing, json_text() undoes both.
//
// Example: {"a": NaN, "b": "NaN", "c": "\u0001x"}
//    for the parser    {"a": "\u0001NaN", "b": "NaN", "c": "\u0001\u0001x"}
//    in attributes     a is the number NaN, b the text NaN, c the text U+0001 x
//    from json_text()  the first line again

#include "container/attributes_json.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/attributes.hpp"
#include "container/npy/npy_header.hpp"

namespace plait::container {

namespace {

using base::Rejection;
using base::text;
using Json = nlohmann::ordered_json;

/// Mark of strings that stand for numbers that JSON does not have. Other texts that begin with the mark get a second
/// one.
constexpr char kMark = '\x01';
constexpr std::string_view kQuotedMark = "\"\\u0001";  // the mark at the beginning of a string in JSON
/// Nesting of objects around the value of an attribute: the metadata document, and the object of attributes in it.
constexpr std::size_t kOuterNesting = 2;
constexpr std::array<std::string_view, 3> kWords{"NaN", "Infinity", "-Infinity"};

/// Returns NaN or an infinity if the value is a marked string for one of them; nothing for other values.
std::optional<double> special_number(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string& string = value.get_ref<const std::string&>();
  if (string.empty() || string.front() != kMark) return std::nullopt;
  const std::string_view word = std::string_view(string).substr(1);
  if (word == kWords[0]) return std::numeric_limits<double>::quiet_NaN();
  if (word == kWords[1]) return std::numeric_limits<double>::infinity();
  if (word == kWords[2]) return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

Json real_to_json(double value) {
  if (std::isfinite(value)) return value;
  const std::string_view word = std::isnan(value) ? kWords[0] : value > 0 ? kWords[1] : kWords[2];
  return text(kMark, word);
}

/// Removes the second mark, as the inverse of marked_text().
std::string unmarked_text(const std::string& marked) { return marked.starts_with(kMark) ? marked.substr(1) : marked; }

/// Returns the maximum nesting of lists and objects in a JSON text.
std::size_t nesting_depth(std::string_view json) {
  std::size_t depth = 0;
  std::size_t max_depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++at;
    if (quoted) continue;
    if (c == '[' || c == '{') max_depth = std::max(max_depth, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return max_depth;
}

/// Converts a number of half precision (IEEE 754 binary16).
double half_to_real(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

/// Decodes one number. `kind` is the type code of its dtype.
Json bytes_to_json(std::span<const std::byte> bytes, char kind, bool is_big_endian) {
  std::array<std::byte, 16> buffer{};
  std::ranges::copy(bytes, buffer.begin());
  if (is_big_endian) std::reverse(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(bytes.size()));
  std::uint64_t bits = 0;
  std::memcpy(&bits, buffer.data(), 8);
  const std::size_t size = bytes.size();
  switch (kind) {
    case 'b': return bits != 0;
    case 'u': return bits;
    case 'i': {
      const auto unused = static_cast<int>(64 - 8 * size);
      return static_cast<std::int64_t>(bits << unused) >> unused;
    }
    default: break;
  }
  if (size == 2) return real_to_json(half_to_real(static_cast<std::uint16_t>(bits)));
  if (size == 4) return real_to_json(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (size == 8) return real_to_json(std::bit_cast<double>(bits));
  long double wide = 0;
  std::memcpy(&wide, buffer.data(), std::min(sizeof(wide), size));
  return real_to_json(static_cast<double>(wide));
}

/// Converts value number `index` of an attribute. A complex number becomes a list of two numbers.
Json value_to_json(const ArrayAttribute& attribute, std::size_t index) {
  if (!attribute.values.empty() || !attribute.is_texts()) {
    const char kind = attribute.dtype[1];
    const bool is_big_endian = attribute.dtype[0] == '>';
    const auto size = static_cast<std::size_t>(npy::dtype_bytes(attribute.dtype));
    const std::span<const std::byte> bytes = std::span(attribute.values).subspan(index * size, size);
    if (kind != 'c') return bytes_to_json(bytes, kind, is_big_endian);
    return Json::array({bytes_to_json(bytes.first(size / 2), 'f', is_big_endian),
                        bytes_to_json(bytes.last(size / 2), 'f', is_big_endian)});
  }
  return marked_text(attribute.texts[index]);
}

/// Converts the values along `dimension` and those after it to nested lists. next: the number of the next value, which
/// is increased for each value.
Json dimension_to_json(const ArrayAttribute& attribute, std::size_t dimension, std::size_t& next) {
  if (dimension == attribute.shape.size()) return value_to_json(attribute, next++);
  Json list = Json::array();
  for (std::int64_t i = 0; i < attribute.shape[dimension]; ++i)
    list.push_back(dimension_to_json(attribute, dimension + 1, next));
  return list;
}

/// The common type of the values of a list. A later type includes the earlier ones that are compatible with it: kReal
/// includes all numbers.
enum class CommonType : std::uint8_t { kNothing, kTexts, kBoolean, kInteger, kUnsigned, kReal };

CommonType common_type(const Json& value) {
  if (special_number(value)) return CommonType::kReal;
  if (value.is_string()) return CommonType::kTexts;
  if (value.is_boolean()) return CommonType::kBoolean;
  if (value.is_number_float()) return CommonType::kReal;
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>() > INT64_MAX ? CommonType::kUnsigned : CommonType::kInteger;
  return value.is_number_integer() ? CommonType::kInteger : CommonType::kNothing;
}

/// Flattens nested lists, and collects their values, their common type and their common shape.
/// Example: [[1, 2.5], [3, 4]] has the shape (2, 2) and four values of the type kReal.
class Flattener {
 public:
  /// Adds a value, or the values of a list, at a nesting depth. Returns false if the values have no common type, or the
  /// lists no common shape.
  bool add(const Json& value, std::size_t depth) {
    if (!value.is_array()) {
      const CommonType type = common_type(value);
      if (type == CommonType::kNothing || depth != shape_.size()) return false;
      if (!values_.empty() && type != common_ && !has_common_type(type)) return false;
      common_ = values_.empty() || type > common_ ? type : common_;
      values_.push_back(&value);
      return true;
    }
    if (depth == shape_.size()) {
      if (!values_.empty() || depth == kMaxDimensions) return false;
      shape_.push_back(static_cast<std::int64_t>(value.size()));
    } else if (shape_[depth] != static_cast<std::int64_t>(value.size())) {
      return false;
    }
    return std::ranges::all_of(value, [&](const Json& item) { return add(item, depth + 1); });
  }

  const Extents& shape() const { return shape_; }
  CommonType common() const { return common_; }
  const std::vector<const Json*>& values() const { return values_; }

 private:
  /// Returns true if a value of the other type has a common type with the former values: integers and real numbers
  /// together are real numbers. An unsigned number beyond 2^63 - 1 and a signed one have no common integer type.
  bool has_common_type(CommonType other) const {
    const auto is_number = [](CommonType type) { return type >= CommonType::kInteger; };
    const bool has_unsigned = common_ == CommonType::kUnsigned || other == CommonType::kUnsigned;
    const bool has_real = common_ == CommonType::kReal || other == CommonType::kReal;
    return is_number(common_) && is_number(other) && (!has_unsigned || has_real);
  }
  Extents shape_;
  CommonType common_ = CommonType::kReal;
  std::vector<const Json*> values_;
};

template <typename Number>
void append(std::vector<std::byte>& out, Number value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof(value));
}

ArrayAttribute parse_attribute(const std::string& name, const Json& value) {
  ArrayAttribute attribute{name, {}};
  Flattener flat;
  if (!flat.add(value, 0)) {
    attribute.dtype = ArrayAttribute::kJson;
    attribute.texts.push_back(json_text(value, -1));
    return attribute;
  }
  attribute.shape = flat.shape();
  for (const Json* item : flat.values()) switch (flat.common()) {
      case CommonType::kTexts: attribute.texts.push_back(unmarked_text(item->get<std::string>())); break;
      case CommonType::kBoolean: append(attribute.values, static_cast<std::uint8_t>(item->get<bool>())); break;
      case CommonType::kInteger: append(attribute.values, item->get<std::int64_t>()); break;
      case CommonType::kUnsigned: append(attribute.values, item->get<std::uint64_t>()); break;
      default: {
        const std::optional<double> special = special_number(*item);
        append(attribute.values, special ? *special : item->get<double>());
      }
    }
  const char* const dtypes[] = {"", ArrayAttribute::kTexts, "|b1", "<i8", "<u8", "<f8"};
  attribute.dtype = dtypes[static_cast<std::size_t>(flat.common())];
  return attribute;
}

/// Turns words that JSON does not have, such as NaN, into strings. If `adds_marks` is true, these strings begin with a
/// mark, and other strings that begin with the mark get a second mark.
std::string quote_words(std::string_view text, bool adds_marks) {
  std::string result;
  result.reserve(text.size());
  bool quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    if (quoted && text[at] == '\\' && at + 1 < text.size()) {
      result += text.substr(at, 2);
      at += 2;
      continue;
    }
    if (text[at] == '"') quoted = !quoted;
    if (adds_marks && quoted && text.substr(at).starts_with(kQuotedMark)) {
      base::append_parts(result, kQuotedMark, kQuotedMark.substr(1));
      at += kQuotedMark.size();
      continue;
    }
    std::string_view found;
    if (!quoted)
      for (const std::string_view word : kWords)
        if (text.substr(at).starts_with(word)) found = word;
    if (found.empty()) {
      result += text[at++];
    } else {
      base::append_parts(result, adds_marks ? kQuotedMark : "\"", found, '"');
      at += found.size();
    }
  }
  return result;
}

}  // namespace

std::string strict_json(std::string_view text) { return quote_words(text, /*adds_marks=*/false); }

std::string marked_json(std::string_view text) { return quote_words(text, /*adds_marks=*/true); }

std::string marked_text(std::string_view text) {
  return text.starts_with(kMark) ? base::text(kMark, text) : std::string(text);
}

ArrayAttributes json_to_attributes(const Json& object) {
  ArrayAttributes found;
  for (const auto& [name, value] : object.items()) found.push_back(parse_attribute(unmarked_text(name), value));
  return found;
}

Rejection json_rejection(const ArrayAttribute& attribute) {
  if (!attribute.error.empty()) return Rejection(attribute.error);
  const std::size_t nesting = attribute.is_json() ? nesting_depth(attribute.texts.front()) : attribute.shape.size();
  if (nesting + kOuterNesting > kMaxNesting)
    return Rejection::because("it is nested ", nesting, " deep, and Plait reads at most ", kMaxNesting - kOuterNesting);
  if (attribute.is_texts() || attribute.is_json()) return {};
  if (attribute.dtype.size() < 2 || std::string_view("biufc").find(attribute.dtype[1]) == std::string_view::npos)
    return Rejection::because("JSON has no place for values of the type ", attribute.dtype);
  return {};
}

Json attributes_to_json(const ArrayAttributes& attributes, const std::string& where) {
  Json object = Json::object();
  for (const ArrayAttribute& attribute : attributes) {
    if (const Rejection rejection = json_rejection(attribute))
      base::throw_argument_error(where, ": the attribute \"", attribute.name,
                                 "\" cannot be written: ", rejection.reason(), "; leave it out");
    if (attribute.is_json()) {
      Json value = Json::parse(marked_json(attribute.texts.front()), nullptr, false);
      if (value.is_discarded())
        base::throw_argument_error(where, ": the attribute \"", attribute.name,
                                   "\" is no JSON; give numbers, texts, or what is nested");
      object[marked_text(attribute.name)] = std::move(value);
      continue;
    }
    std::size_t next = 0;
    object[marked_text(attribute.name)] = dimension_to_json(attribute, 0, next);
  }
  return object;
}

nlohmann::json number_to_json(const ArrayAttribute& attribute) {
  const auto unmark = [](const Json& value) {
    return special_number(value) ? nlohmann::json(value.get_ref<const std::string&>().substr(1))
                                 : nlohmann::json::parse(value.dump());
  };
  const Json value = value_to_json(attribute, 0);
  if (!value.is_array()) return unmark(value);
  return nlohmann::json::array({unmark(value[0]), unmark(value[1])});
}

double real_value(const ArrayAttribute& attribute) {
  const Json value = value_to_json(attribute, 0);
  const std::optional<double> special = special_number(value);
  return special ? *special : value.get<double>();
}

std::string json_text(const Json& value, int indent) {
  const std::string marked = value.dump(indent);
  std::string_view rest = marked;
  std::string out;
  out.reserve(rest.size());
  while (!rest.empty()) {
    if (rest.front() != '"') {
      const std::size_t string_begin = std::min(rest.find('"'), rest.size());
      out += rest.substr(0, string_begin);
      rest.remove_prefix(string_begin);
      continue;
    }
    std::size_t end = 1;
    while (rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;  // an escape may be a quotation mark
    const std::string_view quoted = rest.substr(0, end + 1);
    rest.remove_prefix(quoted.size());
    if (!quoted.starts_with(kQuotedMark)) {
      out += quoted;
      continue;
    }
    const std::string_view unmarked = quoted.substr(kQuotedMark.size());
    if (unmarked.starts_with(kQuotedMark.substr(1)))
      base::append_parts(out, '"', unmarked);  // a text with a second mark
    else
      out += unmarked.substr(0, unmarked.size() - 1);  // a word such as NaN, without quotation marks
  }
  return out;
}

}  // namespace plait::container
