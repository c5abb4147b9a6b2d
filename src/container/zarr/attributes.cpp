#include "container/zarr/attributes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "container/attributes.hpp"
#include "container/attributes_json.hpp"
#include "container/fill_value.hpp"
#include "container/zarr/document.hpp"
#include "container/zarr/json_member.hpp"
#include "container/zarr/target.hpp"
#include "plait/error.hpp"
#include "store/posix/byte_lock.hpp"
#include "store/posix/posix_store.hpp"
#include "store/posix/replacement.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using Ordered = nlohmann::ordered_json;
using store::posix::PosixStore;

constexpr std::string_view kDimensions = "_ARRAY_DIMENSIONS";
constexpr std::string_view kFill = "_FillValue";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kRealLetters = 12;  // of 8 bytes

/// Base64 (RFC 4648) of the bytes of a real number, the least first.
std::string letters_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  std::string out;
  for (std::size_t i = 0; i < kRealLetters - 1; ++i) {
    std::uint64_t six = 0;
    for (std::size_t bit = 6 * i; bit < 6 * i + 6; ++bit)
      six = six << 1 | (bit < 64 ? bits >> (8 * (bit / 8) + 7 - bit % 8) & 1U : 0U);
    out += kLetters[six];
  }
  return out + '=';
}

std::optional<double> real_of_letters(std::string_view letters) {
  if (letters.size() != kRealLetters || letters.back() != '=') return std::nullopt;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kRealLetters - 1; ++i) {
    const std::size_t six = kLetters.find(letters[i]);
    if (six == std::string_view::npos) return std::nullopt;
    for (std::size_t bit = 6 * i; bit < std::min<std::size_t>(6 * i + 6, 64); ++bit)
      bits |= std::uint64_t{six >> (5 - (bit - 6 * i)) & 1U} << (8 * (bit / 8) + 7 - bit % 8);
  }
  return std::bit_cast<double>(bits);
}

bool is_second_version(std::string_view file) { return !file.ends_with("zarr.json"); }

void replace(const std::string& path, const std::string& text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  store::posix::Replacement(path, static_cast<std::int64_t>(text.size()), std::span(bytes, text.size())).commit();
}

/// Changes what groups of version 2 above an array keep of its attributes.
void change_consolidated(const fs::path& array, const std::string& object) {
  constexpr std::string_view kMetadata = "metadata";
  std::error_code ignored;
  for (fs::path above = array.parent_path(); fs::is_regular_file(above / ".zgroup", ignored);
       above = above.parent_path()) {
    const std::string path = (above / ".zmetadata").string();
    if (fs::is_regular_file(path, ignored)) {
      const store::posix::Descriptor alone = store::posix::lock_name(path);
      PosixStore store(path, PosixStore::Access::kRead);
      const std::string text = content_of(store);
      const std::string name = (array.lexically_relative(above) / ".zattrs").generic_string();
      const auto metadata = with_member(member_text(text, kMetadata), name, object);
      if (metadata) replace(path, with_member(text, kMetadata, *metadata).value_or(text));
    }
    if (!above.has_relative_path()) return;
  }
}

/// What xarray takes for the value of missing elements.
void type_fill_value(Content& found, ArrayAttribute& fill) {
  const std::string& dtype = found.type.dtype;
  std::vector<std::byte> bits;
  if (fill.is_texts() && fill.shape.empty() && dtype[1] == 'f') {
    if (const auto value = real_of_letters(fill.texts.front())) {
      fill = {fill.name, "<f8", {}, std::vector<std::byte>(sizeof(double))};
      std::memcpy(fill.values.data(), &*value, sizeof(double));
      bits = fill_of(json_of_number(fill), dtype);
    }
  } else if (count_of(fill) == 1 && !fill.is_texts() && !fill.is_json()) {
    bits = fill_of(json_of_number(fill), dtype);
  }
  if (bits.empty()) return;
  fill = {fill.name, dtype, {}, std::move(bits)};
}

}  // namespace

ArrayAttributes attributes_in(std::string_view content, const std::string& file) {
  std::string text(content);
  std::string from = file;
  if (is_second_version(file)) {
    from = (fs::path(file).parent_path() / ".zattrs").string();
    std::error_code ignored;
    if (!fs::exists(from, ignored)) return {};
    PosixStore store(from, PosixStore::Access::kRead);
    text = content_of(store);
  }
  const Document document(text, from);  // which says what is wrong with it
  const Ordered root = Ordered::parse(marked_json(text));
  if (is_second_version(file)) return attributes_of_json(root);
  const auto found = root.find("attributes");
  if (found == root.end() || found->is_null()) return {};
  if (!found->is_object()) document.damaged("\"attributes\" is no object");
  return attributes_of_json(*found);
}

void take_attributes(Content& found, ArrayAttributes attributes, std::string_view content, const std::string& file) {
  const bool second = is_second_version(file);
  const auto named = std::ranges::find(attributes, kDimensions, &ArrayAttribute::name);
  const bool by_xarray = second && named != attributes.end();
  if (by_xarray && named->is_texts() && named->shape == Extents{static_cast<std::int64_t>(found.type.shape.size())}) {
    found.dimension_names = named->texts;
    attributes.erase(named);
  }
  const auto fill = std::ranges::find(attributes, kFill, &ArrayAttribute::name);
  if (fill != attributes.end() && !found.type.dtype.empty()) type_fill_value(found, *fill);
  if (by_xarray && fill == attributes.end() && !found.fill.empty()) {
    const Document document(content, file);
    if (const auto own = document.root().find("fill_value"); own != document.root().end() && !own->is_null())
      attributes.push_back({std::string(kFill), found.type.dtype, {}, found.fill});
  }
  found.attributes = std::move(attributes);
}

nlohmann::ordered_json attributes_object(const ArrayAttributes& attributes, const std::string& where) {
  check_attributes(attributes, where);
  Ordered object = json_of_attributes(attributes, where);
  const ArrayAttribute* const fill = find_attribute(attributes, kFill);
  if (fill != nullptr && !fill->is_texts() && !fill->is_json() && fill->dtype[1] == 'f' && count_of(*fill) == 1)
    object[std::string(kFill)] = letters_of(real_of(*fill));
  return object;
}

void change_attributes(const std::string& file, const AttributeChanges& changes) {
  const bool second = is_second_version(file);
  const store::posix::Descriptor alone = store::posix::lock_name(file);
  const std::string path = second ? (fs::path(file).parent_path() / ".zattrs").string() : file;
  std::error_code ignored;
  std::string text = "{}";
  if (!second || fs::exists(path, ignored)) {
    PosixStore store(path, PosixStore::Access::kRead);
    text = content_of(store);
  }
  constexpr std::string_view kMember = "attributes";
  std::string object = second ? text : member_text(text, kMember);
  if (object.empty() || object == "null") object = "{}";
  for (const auto& [name, value] : changes) {
    const auto made = value ? with_member(object, name, json_text(attributes_object({*value}, file)[name], -1))
                            : without_member(object, name);
    if (!made)
      throw Error(
          ErrorKind::kSystem,
          base::text("cannot change the attributes in ", path, ": they are no JSON object; copy or download it again"),
          EIO);
    object = *made;
  }
  replace(path, second ? object : with_member(text, kMember, object).value_or(text));
  if (second) change_consolidated(fs::absolute(path).parent_path().lexically_normal(), object);
}

}  // namespace plait::container::zarr
