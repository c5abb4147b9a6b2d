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
/// Nesting around the value of an attribute: the metadata, and the object of attributes.
constexpr std::size_t kAround = 2;
constexpr std::array<std::string_view, 3> kWords{"NaN", "Infinity", "-Infinity"};

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

std::string plain_text(const std::string& marked) { return marked.starts_with(kMark) ? marked.substr(1) : marked; }

/// Returns the maximum nesting of lists and objects.
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

double half_to_real(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

/// Decodes one number. `kind` is the type code of its dtype.
Json bytes_to_json(std::span<const std::byte> bytes, char kind, bool big) {
  std::array<std::byte, 16> buffer{};
  std::ranges::copy(bytes, buffer.begin());
  if (big) std::reverse(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(bytes.size()));
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

Json value_to_json(const ArrayAttribute& attribute, std::size_t at) {
  if (!attribute.values.empty() || !attribute.is_texts()) {
    const char kind = attribute.dtype[1];
    const bool big = attribute.dtype[0] == '>';
    const auto size = static_cast<std::size_t>(npy::dtype_bytes(attribute.dtype));
    const std::span<const std::byte> bytes = std::span(attribute.values).subspan(at * size, size);
    if (kind != 'c') return bytes_to_json(bytes, kind, big);
    return Json::array({bytes_to_json(bytes.first(size / 2), 'f', big), bytes_to_json(bytes.last(size / 2), 'f', big)});
  }
  return marked_text(attribute.texts[at]);
}

Json dimension_to_json(const ArrayAttribute& attribute, std::size_t dimension, std::size_t& at) {
  if (dimension == attribute.shape.size()) return value_to_json(attribute, at++);
  Json list = Json::array();
  for (std::int64_t i = 0; i < attribute.shape[dimension]; ++i)
    list.push_back(dimension_to_json(attribute, dimension + 1, at));
  return list;
}

/// The common type of the values of a list. The order of the values is that of widening: kReal includes all numbers.
enum class Common : std::uint8_t { kNothing, kTexts, kTruth, kWhole, kNatural, kReal };

Common common_type(const Json& value) {
  if (special_number(value)) return Common::kReal;
  if (value.is_string()) return Common::kTexts;
  if (value.is_boolean()) return Common::kTruth;
  if (value.is_number_float()) return Common::kReal;
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() > INT64_MAX ? Common::kNatural : Common::kWhole;
  return value.is_number_integer() ? Common::kWhole : Common::kNothing;
}

/// Flattens nested lists of one shape, and collects their values.
class Flattener {
 public:
  /// Adds a value. Returns false if the values have no common type, or the lists no common shape.
  bool take(const Json& value, std::size_t depth) {
    if (!value.is_array()) {
      const Common type = common_type(value);
      if (type == Common::kNothing || depth != shape_.size()) return false;
      if (!values_.empty() && type != common_ && !widens(type)) return false;
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
    return std::ranges::all_of(value, [&](const Json& item) { return take(item, depth + 1); });
  }

  const Extents& shape() const { return shape_; }
  Common common() const { return common_; }
  const std::vector<const Json*>& values() const { return values_; }

 private:
  /// Returns true if a number of the other type is compatible: integers and real numbers together are real numbers.
  bool widens(Common other) const {
    const auto number = [](Common type) { return type >= Common::kWhole; };
    const bool natural = common_ == Common::kNatural || other == Common::kNatural;
    return number(common_) && number(other) && (!natural || other == Common::kReal || common_ == Common::kReal);
  }
  Extents shape_;
  Common common_ = Common::kReal;
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
  if (!flat.take(value, 0)) {
    attribute.dtype = ArrayAttribute::kJson;
    attribute.texts.push_back(json_text(value, -1));
    return attribute;
  }
  attribute.shape = flat.shape();
  for (const Json* item : flat.values()) switch (flat.common()) {
      case Common::kTexts: attribute.texts.push_back(plain_text(item->get<std::string>())); break;
      case Common::kTruth: append(attribute.values, static_cast<std::uint8_t>(item->get<bool>())); break;
      case Common::kWhole: append(attribute.values, item->get<std::int64_t>()); break;
      case Common::kNatural: append(attribute.values, item->get<std::uint64_t>()); break;
      default: {
        const std::optional<double> special = special_number(*item);
        append(attribute.values, special ? *special : item->get<double>());
      }
    }
  const char* const dtypes[] = {"", ArrayAttribute::kTexts, "|b1", "<i8", "<u8", "<f8"};
  attribute.dtype = dtypes[static_cast<std::size_t>(flat.common())];
  return attribute;
}

/// Turns words that JSON does not have, such as NaN, into strings. If `marks` is true, these strings begin with a mark,
/// and other strings that begin with the mark get a second mark.
std::string with_marks(std::string_view text, bool marks) {
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
    if (marks && quoted && text.substr(at).starts_with(kQuotedMark)) {
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
      base::append_parts(result, marks ? kQuotedMark : "\"", found, '"');
      at += found.size();
    }
  }
  return result;
}

}  // namespace

std::string strict_json(std::string_view text) { return with_marks(text, false); }

std::string marked_json(std::string_view text) { return with_marks(text, true); }

std::string marked_text(std::string_view text) {
  return text.starts_with(kMark) ? base::text(kMark, text) : std::string(text);
}

ArrayAttributes json_to_attributes(const Json& object) {
  ArrayAttributes found;
  for (const auto& [name, value] : object.items()) found.push_back(parse_attribute(plain_text(name), value));
  return found;
}

Rejection json_rejection(const ArrayAttribute& attribute) {
  if (!attribute.error.empty()) return Rejection(attribute.error);
  const std::size_t nesting = attribute.is_json() ? nesting_depth(attribute.texts.front()) : attribute.shape.size();
  if (nesting + kAround > kMaxNesting)
    return Rejection::because("it is nested ", nesting, " deep, and Plait reads at most ", kMaxNesting - kAround);
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
    std::size_t at = 0;
    object[marked_text(attribute.name)] = dimension_to_json(attribute, 0, at);
  }
  return object;
}

nlohmann::json number_to_json(const ArrayAttribute& attribute) {
  const auto plain = [](const Json& value) {
    return special_number(value) ? nlohmann::json(value.get_ref<const std::string&>().substr(1))
                                 : nlohmann::json::parse(value.dump());
  };
  const Json value = value_to_json(attribute, 0);
  if (!value.is_array()) return plain(value);
  return nlohmann::json::array({plain(value[0]), plain(value[1])});
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
      const std::size_t plain = std::min(rest.find('"'), rest.size());
      out += rest.substr(0, plain);
      rest.remove_prefix(plain);
      continue;
    }
    std::size_t end = 1;
    while (rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
    const std::string_view quoted = rest.substr(0, end + 1);
    rest.remove_prefix(quoted.size());
    if (!quoted.starts_with(kQuotedMark)) {
      out += quoted;
      continue;
    }
    const std::string_view unmarked = quoted.substr(kQuotedMark.size());
    if (unmarked.starts_with(kQuotedMark.substr(1)))
      base::append_parts(out, '"', unmarked);
    else
      out += unmarked.substr(0, unmarked.size() - 1);
  }
  return out;
}

}  // namespace plait::container
