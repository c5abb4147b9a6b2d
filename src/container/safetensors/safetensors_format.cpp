#include "container/safetensors/safetensors_format.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/attributes.hpp"
#include "container/format_registry.hpp"
#include "container/members.hpp"
#include "container/safetensors/safetensors_header.hpp"

namespace plait::container::safetensors {

namespace {

using base::text;

std::uint64_t decode_length(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) number |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return number;
}

/// Reads and parses the header of a file.  errors  kSystem: the file is damaged.
Header read_header(store::Store& store, const std::string& file) {
  const std::int64_t size = store.size();
  const auto throw_damaged = [&](const auto&... why) {
    base::throw_system_error(EIO, "cannot open ", file, " as safetensors: ", why...,
                             "; copy or download the file again");
  };
  if (size < kLengthBytes) throw_damaged("it has ", size, " bytes, too few for the length of a header");
  std::array<std::byte, kLengthBytes> header{};
  store.read({{0, header.data(), kLengthBytes}});
  const std::uint64_t length = decode_length(header);
  if (length > static_cast<std::uint64_t>(kMaxHeaderBytes))
    throw_damaged("byte 0 says that the header has ", length, " bytes, but the format permits ", kMaxHeaderBytes);
  const auto bytes = static_cast<std::int64_t>(length);
  if (bytes > size - kLengthBytes)
    throw_damaged("byte 0 says that the header has ", bytes, " bytes, but only ", size - kLengthBytes, " follow");
  std::string json(static_cast<std::size_t>(bytes), '\0');
  store.read({{kLengthBytes, reinterpret_cast<std::byte*>(json.data()), bytes}});
  return parse_header(json, size, file);
}

class SafetensorsFile : public OpenedFile {
 public:
  SafetensorsFile(std::shared_ptr<store::Store> store, std::string name)
      : store_(std::move(store)), name_(std::move(name)), file_(array_name(name_).file) {}
  std::vector<Member> arrays() override { return select_members(read_header(*store_, file_).members, name_); }
  std::vector<GroupAttributes> groups() override { return {{{}, read_header(*store_, file_).texts}}; }
  std::unique_ptr<Dataset> dataset(const FileOptions& /*stated*/) override {
    const std::vector<Member> members = read_header(*store_, file_).members;
    return std::make_unique<Dataset>(static_cast<const Content&>(find_member(members, name_)), store_);
  }

 private:
  std::shared_ptr<store::Store> store_;
  std::string name_;
  std::string file_;
};

class Safetensors : public Format {
 public:
  Safetensors()
      : Format({.name = "safetensors",
                .suffix = ".safetensors",
                .kind = "a .safetensors file",
                .names_arrays = true,
                .only_order = Order::kC}) {}
  bool has_signature(std::span<const std::byte> header) const override {
    // Accept the file if the format permits this length of the header, and if the header begins like a JSON object: a
    // brace, a character that may follow it in JSON, and no control characters, unlike binary integers.
    if (header.size() < kLengthBytes + 2 || decode_length(header) > static_cast<std::uint64_t>(kMaxHeaderBytes))
      return false;
    const std::string_view json(reinterpret_cast<const char*>(header.data()) + kLengthBytes,
                                header.size() - kLengthBytes);
    const std::string_view begin = json.substr(0, static_cast<std::size_t>(decode_length(header)));
    const auto is_text = [](char c) { return static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t'; };
    return begin.size() >= 2 && begin[0] == '{' && std::string_view("\" }\n\t").find(begin[1]) != begin.npos &&
           std::ranges::all_of(begin, is_text);
  }
  std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const override {
    return std::make_unique<SafetensorsFile>(std::move(store), name);
  }
  std::unique_ptr<NewFile> create(const std::string& path, const FileOptions& options) const override {
    NewContent content;
    content.members = make_new_members(path, options, "data");
    const std::string file(array_name(path).file);
    ArrayAttributes texts;
    for (const GroupAttributes& group : options.groups) {
      if (!group.group.empty() && !group.attributes.empty())
        base::throw_argument_error(
            file, ": attributes of the group /", group.group,
            " were given, but safetensors files have no groups; leave them out, or give those of the group \"\"");
      texts.insert(texts.end(), group.attributes.begin(), group.attributes.end());
    }
    check_attributes(texts, file);
    content.head = make_header(content.members, texts, file);
    static_cast<Content&>(content) = content.members.front();
    content.file_bytes = static_cast<std::int64_t>(content.head.size());
    for (const Member& member : content.members)
      content.file_bytes = std::max(content.file_bytes, member.data_offset + member.stored);
    return std::make_unique<NewFile>(std::move(content));
  }
  base::Rejection attribute_rejection(const std::string& /*path*/, const ArrayAttribute& attribute,
                                      bool of_group) const override {
    if (!of_group) return base::Rejection("safetensors files have no attributes of arrays");
    if (attribute.is_texts() && attribute.shape.empty() && attribute.error.empty()) return {};
    return base::Rejection("safetensors files have texts as attributes of the file, and nothing else");
  }
};

}  // namespace

const Format& format() {
  static const Safetensors kFormat;
  return kFormat;
}

}  // namespace plait::container::safetensors
