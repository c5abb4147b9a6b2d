#include "container/npy/npy_header.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/npy/encoding.hpp"
#include "container/npy/literal.hpp"
#include "plait/error.hpp"

namespace plait::container::npy {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void throw_damaged(const std::string& path, const std::string& found) {
  base::throw_system_error(0, "cannot open ", path, " as .npy: ", found);
}

/// Returns the number of bytes of an element of a dtype, which may be 0 for a field.
std::int64_t literal_bytes(const Literal& type) {
  if (type.kind == Literal::Kind::kString) {
    std::string_view text = type.string;
    if (!text.empty() && std::string_view("<>|=").find(text.front()) != std::string_view::npos) text.remove_prefix(1);
    if (text.empty()) base::throw_argument_error("the dtype is empty; give one such as <f8");
    const char kind = text.front();
    if (kind == 'O')
      base::throw_argument_error(
          "dtype O holds Python objects, which have no bytes of their own; use a fixed-size dtype");
    std::int64_t count = 0;
    std::size_t digits = 1;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
      count = base::checked_add(base::checked_multiply(count, 10, "dtype"), text[digits] - '0', "dtype");
    const bool has_unit = digits < text.size() && text[digits] == '[' && (kind == 'M' || kind == 'm');
    if (std::string_view("biufcSUVMm").find(kind) == std::string_view::npos || digits == 1 ||
        (digits != text.size() && !has_unit))
      base::throw_argument_error("unknown dtype \"", type.string, "\"; expected a spelling such as <f8");
    return kind == 'U' ? base::checked_multiply(count, 4, "dtype") : count;
  }
  if (type.kind != Literal::Kind::kSequence)
    base::throw_argument_error("the dtype is neither a string nor a list of fields");
  std::int64_t sum = 0;
  for (const Literal& field : type.items) {
    if (field.kind != Literal::Kind::kSequence || field.items.size() < 2 || field.items.size() > 3)
      base::throw_argument_error("a field of the dtype is not (name, type) or (name, type, shape)");
    std::int64_t bytes = literal_bytes(field.items[1]);
    if (field.items.size() == 3) {
      const Literal& shape = field.items[2];
      const std::vector<Literal> extents = shape.kind == Literal::Kind::kSequence ? shape.items : std::vector{shape};
      for (const Literal& extent : extents) {
        if (extent.kind != Literal::Kind::kInteger || extent.integer < 0)
          base::throw_argument_error("the shape ", shape.text,
                                     " of a field of the dtype contains something other than sizes of 0 or more");
        bytes = base::checked_multiply(bytes, extent.integer, "dtype");
      }
    }
    sum = base::checked_add(sum, bytes, "dtype");
  }
  return sum;
}

}  // namespace

std::int64_t dtype_bytes(const std::string& descr) {
  Literal simple;
  simple.kind = Literal::Kind::kString;
  simple.string = descr;
  const std::int64_t bytes = literal_bytes(descr.starts_with('[') ? parse_literal(descr) : simple);
  if (bytes < 1)
    base::throw_argument_error("dtype \"", descr,
                               "\" has elements of 0 bytes; use a type whose elements have at least 1");
  return bytes;
}

bool same_descr(const std::string& left, const std::string& right) {
  if (left == right) return true;
  return left.starts_with('[') && right.starts_with('[') && same_value(parse_literal(left), parse_literal(right));
}

/// Maximum length of a header. No dtype that Plait reads needs as much, and a damaged length must not make the program
/// allocate more.
constexpr std::int64_t kMaxHeaderBytes = std::int64_t{64} << 20;

std::int64_t header_bytes(std::span<const std::byte> preamble, const std::string& path) {
  if (preamble.size() < 10 || std::memcmp(preamble.data(), kMagic.data(), kMagic.size()) != 0)
    throw_damaged(
        path,
        "it does not begin with the .npy signature; give shape and dtype to read it as raw elements under another "
        "name");
  const auto byte = [&](std::size_t i) { return static_cast<std::int64_t>(preamble[i]); };
  // Bytes 0 to 5 are the magic, 6 and 7 the version; then follows the length of the dictionary, in 2 bytes in version 1
  // and in 4 bytes in later versions.
  const std::int64_t version = byte(6);
  if (version == 1) return 10 + byte(8) + byte(9) * 256;
  if ((version == 2 || version == 3) && preamble.size() >= kPreambleBytes) {
    const std::int64_t length = 12 + byte(8) + (byte(9) << 8) + (byte(10) << 16) + (byte(11) << 24);
    if (length > kMaxHeaderBytes)
      throw_damaged(path,
                    base::text("its header would have ", length, " bytes; at most ", kMaxHeaderBytes, " are read"));
    return length;
  }
  throw_damaged(path, base::text("it has format version ", version, "; Plait reads the versions 1, 2 and 3"));
}

Header read_header(store::Store& store, const std::string& path, std::span<const std::byte> first) {
  if (first.size() >= kPreambleBytes) {
    const auto length = static_cast<std::size_t>(header_bytes(first.first(kPreambleBytes), path));
    if (length <= first.size()) return parse_header(first.first(length), path);
  }
  const std::int64_t size = store.size();
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::int64_t>(size, kPreambleBytes)));
  store.read({{0, bytes.data(), static_cast<std::int64_t>(bytes.size())}});
  const std::int64_t length = header_bytes(bytes, path);
  if (length > size)
    base::throw_system_error(0, "cannot open ", path, " as .npy: the header has ", length,
                             " bytes, but the file has only ", size, "; it has been truncated");
  bytes.resize(static_cast<std::size_t>(length));
  store.read({{0, bytes.data(), length}});
  return parse_header(bytes, path);
}

Header parse_header(std::span<const std::byte> bytes, const std::string& path) {
  const std::int64_t length = header_bytes(bytes, path);
  const std::size_t start = static_cast<std::int64_t>(bytes[6]) == 1 ? 10 : 12;
  if (length != static_cast<std::int64_t>(bytes.size())) throw_damaged(path, "the header is cut off");
  Literal dictionary;
  Header header;
  try {
    const std::string text(reinterpret_cast<const char*>(bytes.data()) + start, bytes.size() - start);
    const bool latin1 = static_cast<std::int64_t>(bytes[6]) < 3;
    if (!latin1 && !is_utf8(text)) throw_damaged(path, "the header is of version 3, but its text is not UTF-8");
    dictionary = parse_literal(latin1 && !is_ascii(text) ? latin1_to_utf8(text) : text);
  } catch (const Error& error) {
    throw_damaged(path, base::text("the header cannot be parsed: ", error.what()));
  }
  const Literal* descr = dictionary.find("descr");
  const Literal* fortran = dictionary.find("fortran_order");
  const Literal* shape = dictionary.find("shape");
  if (descr == nullptr || fortran == nullptr || fortran->kind != Literal::Kind::kBool || shape == nullptr ||
      shape->kind != Literal::Kind::kSequence)
    throw_damaged(path, "the header lacks descr, fortran_order or shape");
  header.descr = descr->kind == Literal::Kind::kString ? descr->string : descr->text;
  try {
    header.element_bytes = dtype_bytes(header.descr);
  } catch (const Error& error) {
    base::rethrow(error, "cannot open ", path, ": ", error.what());
  }
  header.order = fortran->integer != 0 ? Order::kFortran : Order::kC;
  for (const Literal& extent : shape->items) {
    if (extent.kind != Literal::Kind::kInteger || extent.integer < 0)
      throw_damaged(path, "the shape in the header contains something other than sizes of 0 or more");
    header.shape.push_back(extent.integer);
  }
  header.data_offset = length;
  return header;
}

/// Returns the dictionary of a header in UTF-8.
std::string make_dictionary(const std::string& descr, Order order, const Extents& shape) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += base::text(extents.empty() ? "" : " ", extent, ',');
  if (shape.size() > 1) extents.pop_back();
  return base::text("{'descr': ", descr.starts_with('[') ? descr : "'" + descr + "'",
                    ", 'fortran_order': ", order == Order::kFortran ? "True" : "False", ", 'shape': (", extents,
                    "), }");
}

std::vector<std::byte> make_header(const std::string& descr, Order order, const Extents& shape) {
  std::string text = make_dictionary(descr, order, shape);
  std::optional<std::string> latin1 = utf8_to_latin1(text);
  if (!latin1 && !is_utf8(text))
    base::throw_argument_error("the dtype has field names that are not UTF-8; use that encoding");
  if (latin1) text = std::move(*latin1);
  // Version 1 states the length in 2 bytes. Up to 63 blanks and a newline follow the dictionary.
  const bool is_long = 10 + text.size() + 1 + 63 > 65535;
  const int version = !latin1 ? 3 : is_long ? 2 : 1;
  const std::size_t start = version == 1 ? 10 : 12;
  text.append(63 - (start + text.size()) % 64, ' ');
  text += '\n';
  std::string bytes(kMagic);
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t i = 0; i < (version == 1 ? 2U : 4U); ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 0xffU);
  bytes += text;
  std::vector<std::byte> result(bytes.size());
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

std::vector<std::byte> resized_header(store::Store& store, const std::string& path, const Extents& shape) {
  const Header header = read_header(store, path);
  std::vector<std::byte> bytes(static_cast<std::size_t>(header.data_offset));
  store.read({{0, bytes.data(), header.data_offset}});
  const auto version = static_cast<int>(bytes[6]);
  const std::size_t start = version == 1 ? 10 : 12;
  std::string text = make_dictionary(header.descr, header.order, shape);
  if (version < 3) text = utf8_to_latin1(text).value_or(text);  // the former text was in Latin-1
  if (start + text.size() + 1 > bytes.size())
    base::throw_argument_error(path, " cannot get the shape ", shape_to_string(shape), ": its header has ",
                               bytes.size(), " bytes, and would need ", start + text.size() + 1,
                               "; copy it to a new file, whose header is longer");
  std::memset(bytes.data() + start, ' ', bytes.size() - start - 1);
  std::memcpy(bytes.data() + start, text.data(), text.size());
  bytes.back() = std::byte{'\n'};
  return bytes;
}

}  // namespace plait::container::npy
