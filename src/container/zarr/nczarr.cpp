#include "container/zarr/nczarr.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "container/attributes.hpp"
#include "container/zarr/target.hpp"

namespace plait::container::zarr {

namespace {

using OrderedJson = nlohmann::ordered_json;

/// The names under which versions of the library store their additions.
struct VersionNames {
  std::array<const char*, 2> members;  ///< members of the attributes, or of the metadata
  const char* object;                  ///< object next to the metadata
};
constexpr VersionNames kArrayNames{{"_nczarr_array", "_NCZARR_ARRAY"}, ".nczarray"};
constexpr VersionNames kGroupNames{{"_nczarr_group", "_NCZARR_GROUP"}, ".nczgroup"};

/// Parses a text; null if it is damaged, because the array can be read without it.
OrderedJson parse(std::string_view text) { return OrderedJson::parse(text, nullptr, false); }

/// Returns the JSON object that the library has stored for an array or group; null if there is none.
OrderedJson read_nczarr_member(const StoredMetadata& metadata, const ArrayAttributes& attributes,
                               const VersionNames& names) {
  for (const char* const name : names.members)
    if (const ArrayAttribute* const found = find_attribute(attributes, name); found != nullptr && found->is_json())
      return parse(found->texts.front());
  const OrderedJson root = parse(metadata.text);
  for (const char* const name : names.members)
    if (root.is_object() && root.contains(name)) return root[name];
  if (metadata.object.ends_with("zarr.json")) return {};
  const std::string folder = metadata.object.substr(0, metadata.object.rfind('/') + 1);
  const std::optional<StoredText> found = read_text(metadata.objects, folder + names.object);
  return found ? parse(found->text) : OrderedJson();
}

/// Returns the member that newer versions call `name` and older ones `older_name`; null if there is none.
OrderedJson find_member(const OrderedJson& object, const char* name, const char* older_name) {
  if (!object.is_object()) return {};
  const auto found = object.contains(name) ? object.find(name) : object.find(older_name);
  return found == object.end() ? OrderedJson() : *found;
}

bool is_length(const OrderedJson& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
  return value.is_number_integer() && value >= 0;
}

}  // namespace

bool is_nczarr_attribute(std::string_view name) {
  return name.starts_with("_nczarr_") || name.starts_with("_NCZARR_") || name == "_NCProperties";
}

std::vector<std::string> read_dimension_references(const StoredMetadata& array, const ArrayAttributes& attributes,
                                                   std::size_t rank) {
  const OrderedJson found =
      find_member(read_nczarr_member(array, attributes, kArrayNames), "dimension_references", "dimrefs");
  if (!found.is_array() || found.size() != rank) return {};
  std::vector<std::string> references;
  for (const OrderedJson& reference : found) {
    if (!reference.is_string()) return {};
    references.push_back(reference.get<std::string>());
  }
  return references;
}

std::vector<GroupDimension> read_group_dimensions(const StoredMetadata& group, const ArrayAttributes& attributes) {
  const OrderedJson found = find_member(read_nczarr_member(group, attributes, kGroupNames), "dimensions", "dims");
  std::vector<GroupDimension> dimensions;
  if (!found.is_object()) return dimensions;
  for (const auto& [name, value] : found.items()) {
    const OrderedJson length = value.is_object() ? find_member(value, "size", "size") : value;
    if (!is_length(length)) continue;
    const OrderedJson unlimited = find_member(value, "unlimited", "unlimited");
    dimensions.push_back({name, length.get<std::int64_t>(), unlimited == 1 || unlimited == true});
  }
  return dimensions;
}

void remove_nczarr_attributes(ArrayAttributes& attributes) {
  std::erase_if(attributes, [](const ArrayAttribute& attribute) { return is_nczarr_attribute(attribute.name); });
}

void name_dimensions(Content& array, const std::vector<std::string>& references) {
  if (references.empty() || !array.dimension_names.empty()) return;
  for (const std::string& reference : references)
    array.dimension_names.push_back(reference.substr(reference.rfind('/') + 1));
}

std::vector<std::int64_t> find_unlimited_dimensions(const std::vector<std::string>& references,
                                                    const std::vector<GroupAttributes>& groups) {
  std::vector<std::int64_t> unlimited;
  for (std::size_t d = 0; d < references.size(); ++d) {
    const std::string_view path = references[d];
    const std::size_t cut = path.rfind('/');
    if (cut == std::string_view::npos) continue;
    const std::string_view group = cut == 0 ? std::string_view() : path.substr(1, cut - 1);
    for (const GroupAttributes& group_attributes : groups)
      if (group_attributes.group == group &&
          std::ranges::any_of(group_attributes.dimensions, [&](const GroupDimension& dimension) {
            return dimension.unlimited && dimension.name == path.substr(cut + 1);
          }))
        unlimited.push_back(static_cast<std::int64_t>(d));
  }
  return unlimited;
}

}  // namespace plait::container::zarr
