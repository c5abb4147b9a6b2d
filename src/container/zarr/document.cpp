#include "container/zarr/document.hpp"

#include <algorithm>
#include <cstdint>

#include "base/errors.hpp"
#include "container/attributes_json.hpp"

namespace plait::container::zarr {

using nlohmann::json;

Document::Document(std::string_view text, const std::string& file) : file_(file) {
  try {
    json_ = json::parse(strict_json(text), [this](int depth, json::parse_event_t /*event*/, const json& /*value*/) {
      if (depth > static_cast<int>(kMaxNesting)) throw_damaged("it is nested deeper than ", kMaxNesting);
      return true;
    });
  } catch (const json::exception& error) {
    throw_damaged("it is not JSON (", error.what(), ')');
  }
  if (!json_.is_object()) throw_damaged("it is no object");
}

void Document::check_fields(std::span<const std::string_view> known) const {
  for (const auto& [name, value] : json_.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto flag = value.is_object() ? value.find("must_understand") : value.end();
    if (flag != value.end() && *flag == false) continue;
    base::throw_argument_error(file_, ": the metadata has the field \"", name, "\", an extension that readers must ",
                               "understand and Plait does not; expected only fields of Zarr 3.0, or objects with ",
                               "\"must_understand\": false; read it with the program that wrote it");
  }
}

const json& Document::get_member(const json& object, const char* name) const {
  const auto found = object.find(name);
  if (found == object.end()) throw_damaged("\"", name, "\" is not there");
  return *found;
}

std::string Document::get_string(const json& object, const char* name) const {
  const json& found = get_member(object, name);
  if (!found.is_string()) throw_damaged("\"", name, "\" is ", excerpt(found), " instead of a text");
  return found.get<std::string>();
}

Extents Document::get_extents(const json& object, const char* name, std::int64_t minimum) const {
  const json& found = get_member(object, name);
  if (!found.is_array()) throw_damaged("\"", name, "\" is ", excerpt(found), " instead of a list");
  if (found.size() > kMaxDimensions)
    throw_damaged("\"", name, "\" has ", found.size(), " dimensions; at most ", kMaxDimensions, " are supported");
  Extents result;
  for (const json& extent : found) {
    const bool fits =
        extent.is_number_integer() && (!extent.is_number_unsigned() || extent.get<std::uint64_t>() <= INT64_MAX);
    if (!fits || extent.get<std::int64_t>() < minimum)
      throw_damaged("\"", name, "\" has ", excerpt(extent), ", which is no number from ", minimum, " to 2^63 - 1");
    result.push_back(extent.get<std::int64_t>());
  }
  return result;
}

}  // namespace plait::container::zarr
