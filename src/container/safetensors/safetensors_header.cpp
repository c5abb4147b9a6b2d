// Reading and writing the JSON header of a safetensors file.
//
// The parser reports events (SAX) instead of a document, because headers may have 100 MB, and errors must state their
// position in the file. Arrays must follow each other without gaps and end at the end of the file, so that each byte
// belongs to exactly one array.
//
// Example of a new file: u of 5 bytes (U8) and x of 3 doubles (F64). Arrays with larger elements come first: x is at
// offsets 0 to 24 and u at 24 to 29. Blanks extend the JSON until the header, including the 8 bytes of its length, is a
// multiple of 64, so that x is aligned.

#include "container/safetensors/safetensors_header.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/attributes.hpp"
#include "container/npy/npy_header.hpp"
#include "container/safetensors/types.hpp"

namespace plait::container::safetensors {

namespace {

using base::text;
using nlohmann::json;

constexpr const char* kMetadataKey = "__metadata__";
constexpr std::int64_t kAlignment = 64;

/// An iterator over the characters of the JSON, for the parser. It records the position that the parser has reached,
/// because the events of the parser do not state it.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** parser_position) : at_(at), parser_position_(parser_position) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *parser_position_ = ++at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** parser_position_;
};

/// An array as the JSON describes it.
struct StatedArray {
  std::string name;
  std::string type;
  Extents shape;
  std::vector<std::int64_t> offsets;
  std::set<std::string> keys{};
  std::int64_t position = 0;  // offset of its name in the file, for errors
};

/// Handles the events of the parser; the names of the functions are those of nlohmann's SAX interface. The deepest
/// nesting that the format has is a list in an object in an object.
class Handler {
 public:
  Handler(const std::string& file, std::string_view whole)
      : parser_position_(whole.data()), file_(file), begin_(whole.data()) {}

  /// Returns the arrays that have been parsed.
  std::vector<StatedArray>& arrays() { return arrays_; }
  ArrayAttributes& texts() { return texts_; }
  /// Returns the variable in which CountingIterator records the position.
  const char** parser_position() { return &parser_position_; }

  bool null() { return throw_unexpected("null"); }
  bool boolean(bool /*value*/) { return throw_unexpected("true or false"); }
  bool number_integer(json::number_integer_t value) { return throw_unexpected(text("the number ", value)); }
  bool number_unsigned(json::number_unsigned_t value) {
    if (list_ == nullptr) return throw_unexpected(text("the number ", value));
    if (value > static_cast<json::number_unsigned_t>(INT64_MAX))
      return fail("the number ", value, " is larger than any file");
    list_->push_back(static_cast<std::int64_t>(value));
    return list_->size() <= kMaxDimensions || fail("a list has more than ", kMaxDimensions, " numbers");
  }
  bool number_float(json::number_float_t /*value*/, const std::string& written) {
    return throw_unexpected(text("the number ", written));
  }
  bool string(std::string& value) {
    if (depth_ == 2 && in_metadata_) {
      texts_.push_back(text_attribute(key_, value));
      return true;
    }
    if (depth_ != 2 || key_ != "dtype") return throw_unexpected("a text");
    arrays_.back().type = value;
    return true;
  }
  bool binary(json::binary_t& /*value*/) { return throw_unexpected("bytes"); }

  bool start_object(std::size_t /*size*/) {
    if (depth_ >= 2) return throw_unexpected("an object");
    ++depth_;
    return true;
  }
  bool end_object() {
    --depth_;
    if (depth_ == 1 && !in_metadata_ && arrays_.back().keys.size() < 3)
      return fail("the array \"", arrays_.back().name, "\" lacks dtype, shape or data_offsets");
    return true;
  }
  bool start_array(std::size_t /*size*/) {
    if (depth_ != 2 || in_metadata_ || (key_ != "shape" && key_ != "data_offsets") || list_ != nullptr)
      return throw_unexpected("a list");
    list_ = key_ == "shape" ? &arrays_.back().shape : &arrays_.back().offsets;
    return true;
  }
  bool end_array() {
    list_ = nullptr;
    return true;
  }
  bool key(std::string& name) {
    key_ = name;
    if (depth_ == 1) {
      in_metadata_ = name == kMetadataKey;
      if (!names_.insert(name).second) return fail("the name \"", name, "\" occurs twice");
      if (!in_metadata_) arrays_.push_back({name, {}, {}, {}, {}, position()});
      return true;
    }
    if (in_metadata_) return true;
    if (name != "dtype" && name != "shape" && name != "data_offsets")
      return fail("the array \"", arrays_.back().name, "\" has the key \"", name,
                  "\", which the format does not define");
    return arrays_.back().keys.insert(name).second ||
           fail("the array \"", arrays_.back().name, "\" has the key \"", name, "\" twice");
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const json::exception& error) {
    // The library's message begins with its own name and position, which differ from those in the file.
    const std::string_view what = error.what();
    const std::size_t begin = what.find("syntax error");
    return fail("it is not JSON (", begin == std::string_view::npos ? what : what.substr(begin), ')');
  }

  /// Reports an error in the file.
  template <typename... Parts>
  [[noreturn]] bool fail(const Parts&... why) const {
    base::throw_system_error(EIO, "cannot open ", file_, " as safetensors: its header is wrong at byte ", position(),
                             ": ", why..., "; copy or download the file again");
  }

 private:
  /// Returns the offset of the parser in the file.
  std::int64_t position() const { return kLengthBytes + (parser_position_ - begin_); }
  /// Throws the error that a value may not occur at the position of the parser.
  bool throw_unexpected(const std::string& what) const {
    if (depth_ == 0) return fail("found ", what, " where an object with the names of arrays was expected");
    if (in_metadata_) return fail("found ", what, " in ", kMetadataKey, ", which has texts only");
    if (depth_ == 1) return fail("the array \"", key_, "\" is ", what, " instead of an object");
    return fail("\"", key_, "\" of the array \"", arrays_.back().name, "\" has ", what);
  }

  std::vector<StatedArray> arrays_;
  ArrayAttributes texts_;
  const char* parser_position_;
  const std::string& file_;
  const char* begin_;                          // first character of the JSON
  int depth_ = 0;                              // number of objects around the position
  bool in_metadata_ = false;                   // true in the object `__metadata__`
  std::string key_;                            // the last key
  std::set<std::string> names_;                // names of arrays, to find repeated ones
  std::vector<std::int64_t>* list_ = nullptr;  // the list around the position; nullptr if there is none
};

[[noreturn]] void throw_contradiction(const std::string& file, const StatedArray& array, const std::string& what) {
  base::throw_system_error(EIO, "cannot open ", file, " as safetensors: at byte ", array.position,
                           " of its header the array \"", array.name, "\" ", what, "; copy or download the file again");
}

Member make_member(const StatedArray& array, std::int64_t data_begin, std::int64_t data_bytes,
                   const std::string& file) {
  if (array.offsets.size() != 2)
    throw_contradiction(file, array, text("has ", array.offsets.size(), " data_offsets instead of 2"));
  const std::int64_t begin = array.offsets[0];
  const std::int64_t end = array.offsets[1];
  if (begin > end) throw_contradiction(file, array, text("begins at ", begin, ", behind its end at ", end));
  if (end > data_bytes)
    throw_contradiction(file, array,
                        text("ends at byte ", end, " behind the header, but the file at byte ", data_bytes));
  Member member;
  member.name = array.name;
  member.element = array.type;
  member.stored = end - begin;
  member.storage = "as it is";
  member.type.shape = array.shape;
  member.data_offset = data_begin + begin;
  const auto* type = std::ranges::find(kTypes, array.type, &ElementType::name);
  if (type == kTypes.end()) {
    member.rejection =
        base::Rejection::because("elements of the type ", array.type,
                                 " are not known to Plait; convert the array with a program that knows them");
    return member;
  }
  member.type.dtype = type->dtype;
  member.type.element_bytes = type->bits / 8;
  if (type->bits % 8 != 0) {
    member.rejection = base::Rejection::because(
        "elements of the type ", array.type, " have ", type->bits,
        " bits, and Plait moves whole bytes; convert the array with a program that knows them");
    return member;
  }
  if (array_bytes(array.shape, type->bits / 8) != member.stored)
    throw_contradiction(file, array,
                        text("takes ", member.stored, " bytes, which is not the size of ", shape_to_string(array.shape),
                             " elements of the type ", array.type));
  return member;
}

/// Returns the type with which an array is written.  errors  kArgument: the format has none for its dtype.
const ElementType& find_type_to_write(const Member& member, const std::string& path) {
  const std::string& dtype = member.type.dtype;
  // Skip |V1: several types of one byte have this dtype, so that it does not determine one of them.
  for (const ElementType& type : kTypes)
    if (!type.dtype.empty() && type.dtype != "|V1" && npy::same_descr(dtype, std::string(type.dtype))) return type;
  base::throw_argument_error(path, "::", member.name, ": safetensors files have no elements of dtype ", dtype,
                             dtype.starts_with('>') ? "; they are little-endian" : "",
                             "; give one of bool, little-endian integers, f2, f4, f8, c8, or V2 for bfloat16");
}

}  // namespace

Header parse_header(std::string_view json_text, std::int64_t file_bytes, const std::string& file) {
  Handler handler(file, json_text);
  const char* const end = json_text.data() + json_text.size();
  (void)json::sax_parse(CountingIterator(json_text.data(), handler.parser_position()),
                        CountingIterator(end, handler.parser_position()), &handler);
  const auto json_bytes = static_cast<std::int64_t>(json_text.size());
  const std::int64_t data_begin = kLengthBytes + json_bytes;
  std::vector<Member> members;
  std::vector<StatedArray>& arrays = handler.arrays();
  members.reserve(arrays.size());
  for (const StatedArray& array : arrays)
    members.push_back(make_member(array, data_begin, file_bytes - data_begin, file));
  // Sort by begin and end: an array without elements may begin at the same offset as another one, and comes before it.
  std::vector<std::size_t> order(members.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return std::pair(arrays[i].offsets[0], arrays[i].offsets[1]); });
  std::int64_t expected = 0;  // the end of the former array, at which the next one must begin
  std::vector<Member> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) {
    const StatedArray& array = arrays[i];
    if (array.offsets[0] != expected)
      throw_contradiction(file, array,
                          text("begins at byte ", array.offsets[0],
                               " behind the header, but what is in front of it ends at byte ", expected));
    expected = array.offsets[1];
    sorted.push_back(std::move(members[i]));
  }
  if (expected != file_bytes - data_begin)
    base::throw_system_error(EIO, "cannot open ", file, " as safetensors: its arrays end at byte ",
                             data_begin + expected, ", but the file at byte ", file_bytes,
                             "; copy or download the file again");
  return {std::move(sorted), std::move(handler.texts())};
}

std::vector<std::byte> make_header(std::vector<Member>& members, const ArrayAttributes& texts,
                                   const std::string& path) {
  std::vector<Member*> order;
  for (Member& member : members) order.push_back(&member);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const Member* member) { return member->type.element_bytes; });
  std::int64_t end = 0;
  std::string out = "{";
  if (!texts.empty()) {
    json metadata = json::object();
    for (const ArrayAttribute& attribute : texts) metadata[attribute.name] = attribute.texts.front();
    base::append_parts(out, json(kMetadataKey).dump(), ':', metadata.dump());
  }
  for (Member* member : order) {
    ArrayType& type = member->type;
    if (member->name == kMetadataKey)
      base::throw_argument_error(path, ": no array of a safetensors file can have the name ", kMetadataKey,
                                 "; give it another one");
    if (type.order == Order::kFortran && type.shape.size() > 1)
      base::throw_argument_error(path, "::", member->name,
                                 ": safetensors files have arrays in order C only; leave out order=F");
    type.order = Order::kC;
    const ElementType& element = find_type_to_write(*member, path);
    member->element = element.name;
    const auto bytes = array_bytes(type.shape, type.element_bytes);
    if (!bytes) base::throw_argument_error(path, "::", member->name, " has more than 2^63 - 1 bytes");
    member->stored = *bytes;
    member->data_offset = end;
    const std::int64_t begin = std::exchange(end, base::checked_add(end, *bytes, "bytes of the file"));
    base::append_parts(out, out.size() > 1 ? "," : "", json(member->name).dump(), ":{\"dtype\":\"", element.name,
                       "\",\"shape\":", json(type.shape).dump(), ",\"data_offsets\":[", begin, ',', end, "]}");
  }
  out += '}';
  while ((kLengthBytes + static_cast<std::int64_t>(out.size())) % kAlignment != 0) out += ' ';
  const auto length = static_cast<std::int64_t>(out.size());
  if (length > kMaxHeaderBytes)
    base::throw_argument_error(path, ": the header has ", length, " bytes, but safetensors files have at most ",
                               kMaxHeaderBytes, "; write fewer arrays to one file");
  for (Member& member : members)
    member.data_offset = base::checked_add(member.data_offset, kLengthBytes + length, "bytes of the file");
  std::vector<std::byte> head(static_cast<std::size_t>(kLengthBytes + length));
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    head[i] = static_cast<std::byte>((static_cast<std::uint64_t>(length) >> (8 * i)) & 0xff);
  std::memcpy(head.data() + kLengthBytes, out.data(), out.size());
  return head;
}

}  // namespace plait::container::safetensors
