#include "container/zarr/zarr_attributes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/attributes.hpp"
#include "container/attributes_json.hpp"
#include "container/fill_value.hpp"
#include "container/zarr/document.hpp"
#include "container/zarr/elements/base64.hpp"
#include "container/zarr/elements/element_types.hpp"
#include "container/zarr/hierarchy/consolidated.hpp"
#include "container/zarr/json_member.hpp"
#include "container/zarr/target.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

/// Encodes the little-endian bytes of a real number in Base64.
std::string encode_real(double value) { return encode_base64(std::as_bytes(std::span(&value, 1))); }

std::optional<double> decode_real(std::string_view letters) {
  const auto bytes = decode_base64(letters);
  if (!bytes || bytes->size() != sizeof(double)) return std::nullopt;
  double value = 0;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

/// Converts the value of `_FillValue` to the type of the array, as xarray interprets it; leaves it if this is
/// impossible.
void convert_fill_value(const Content& array, ArrayAttribute& fill) {
  const std::string& dtype = array.type.dtype;
  std::vector<std::byte> bits;
  if (fill.is_texts() && fill.shape.empty() && dtype[1] == 'f') {
    if (const auto value = decode_real(fill.texts.front())) {
      fill = {fill.name, "<f8", {}, std::vector<std::byte>(sizeof(double))};
      std::memcpy(fill.values.data(), &*value, sizeof(double));
      bits = encode_fill(number_to_json(fill), dtype);
    }
  } else if (value_count(fill) == 1 && !fill.is_texts() && !fill.is_json()) {
    bits = encode_fill(number_to_json(fill), dtype);
  }
  if (bits.empty()) return;
  fill = {fill.name, dtype, {}, std::move(bits)};
}

}  // namespace

bool is_version_2(std::string_view object) { return !object.ends_with("zarr.json"); }

void update_consolidated(store::ObjectStore& array, std::string_view object) {
  for_each_parent(array.name(), [&](const std::string& above) {
    const std::shared_ptr<store::ObjectStore> group = store::open_objects(above, store::Sharing::kShared);
    if (!group->contains(".zgroup")) return false;
    constexpr std::string_view kMetadata = "metadata";
    const std::string name = (fs::path(array.name()).lexically_relative(above) / object).generic_string();
    change_text(*group, std::string(kConsolidated2),
                [&](const std::optional<std::string>& text) -> std::optional<std::string> {
                  const std::optional<StoredText> present = read_text(array, std::string(object));
                  if (!text || !present) return std::nullopt;
                  const auto metadata = set_member(find_member_text(*text, kMetadata), name, present->text);
                  return metadata ? set_member(*text, kMetadata, *metadata) : std::nullopt;
                });
    discard_consolidated();
    return true;
  });
}

ArrayAttributes read_attributes(std::string_view content, store::ObjectStore& objects, const std::string& object) {
  std::string text(content);
  const bool has_version_2 = is_version_2(object);
  std::string file = objects.object_location(object);  // where `text` is stored, for errors
  if (has_version_2) {
    const std::string attributes = object.substr(0, object.rfind('/') + 1).append(kAttributes2);
    std::optional<StoredText> found = read_text(objects, attributes);
    if (!found) return {};
    text = std::move(found->text);
    file = objects.object_location(attributes);
  }
  const Document document(text, file);  // throws if the text is not JSON
  const OrderedJson root = OrderedJson::parse(marked_json(text));
  if (has_version_2) return json_to_attributes(root);
  const auto found = root.find("attributes");
  if (found == root.end() || found->is_null()) return {};
  if (!found->is_object()) document.throw_damaged("\"attributes\" is no object");
  return json_to_attributes(*found);
}

void apply_attributes(Content& array, ArrayAttributes attributes, std::string_view metadata, const std::string& file) {
  const auto names = std::ranges::find(attributes, kDimensionsAttribute, &ArrayAttribute::name);
  const bool is_by_xarray = is_version_2(file) && names != attributes.end();
  if (is_by_xarray && names->is_texts() &&
      names->shape == Extents{static_cast<std::int64_t>(array.type.shape.size())}) {
    array.dimension_names = names->texts;
    attributes.erase(names);
  }
  const auto fill = std::ranges::find(attributes, kFillAttribute, &ArrayAttribute::name);
  const bool has_numbers = std::string_view("biufc").find(dtype_kind(array.type.dtype)) != std::string_view::npos;
  if (fill != attributes.end() && has_numbers) convert_fill_value(array, *fill);
  if (is_by_xarray && has_numbers && fill == attributes.end() && !array.fill.empty()) {
    const Document document(metadata, file);
    const auto own_fill = document.root().find("fill_value");
    if (own_fill != document.root().end() && !own_fill->is_null())
      attributes.push_back({std::string(kFillAttribute), array.type.dtype, {}, array.fill});
  }
  array.attributes = std::move(attributes);
}

nlohmann::ordered_json make_attributes_object(const ArrayAttributes& attributes, const std::string& where) {
  check_attributes(attributes, where);
  OrderedJson object = attributes_to_json(attributes, where);
  const ArrayAttribute* const fill = find_attribute(attributes, kFillAttribute);
  if (fill != nullptr && !fill->is_texts() && !fill->is_json() && fill->dtype[1] == 'f' && value_count(*fill) == 1)
    object[std::string(kFillAttribute)] = encode_real(real_value(*fill));
  return object;
}

void change_attributes(store::ObjectStore& objects, const AttributeChanges& changes) {
  const std::string metadata = metadata_object(objects, {});
  const bool has_version_2 = is_version_2(metadata);
  const std::string object = has_version_2 ? std::string(kAttributes2) : metadata;
  const std::string file = objects.object_location(object);
  change_text(objects, object, [&](const std::optional<std::string>& text) -> std::optional<std::string> {
    constexpr std::string_view kMember = "attributes";
    const std::string before = text.value_or("{}");
    std::string attributes = has_version_2 ? before : find_member_text(before, kMember);
    if (attributes.empty() || attributes == "null") attributes = "{}";
    for (const auto& [name, value] : changes) {
      const auto made = value
                            ? set_member(attributes, name, json_text(make_attributes_object({*value}, file)[name], -1))
                            : remove_member(attributes, name);
      if (!made)
        base::throw_system_error(EIO, "cannot change the attributes in ", file,
                                 ": they are no JSON object; copy or download it again");
      attributes = *made;
    }
    return has_version_2 ? attributes : set_member(before, kMember, attributes).value_or(before);
  });
  if (has_version_2) update_consolidated(objects, kAttributes2);
}

}  // namespace plait::container::zarr
