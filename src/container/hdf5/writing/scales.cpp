// Assigning a dimension scale, the dataset that represents a dimension, to each named dimension of each array.
//
// The scale is searched for in the group of the array and then in the groups above it. Arrays are processed by
// ascending depth, so that the scale of an upper group exists before arrays in lower groups use it.
//
// Example: arrays time(10) and a/u(10, 4) with the dimension names (time, x).
//    time, dimension time    there is an array "time" of one dimension and length 10: it is the scale, number 0
//    a/u, dimension time     "a/time" does not exist; "time" is scale 0 and has length 10
//    a/u, dimension x        neither "a/x" nor "x" exists: netCDF files get a new scale "a/x" of length 4

#include "container/hdf5/writing/scales.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "container/attributes.hpp"

namespace plait::container::hdf5 {

namespace {

std::string join_path(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + '/' + name;
}

/// Returns true if an object can have this name in its group.
bool is_object_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

bool is_unlimited(const Content& content, std::size_t d) {
  return std::ranges::find(content.unlimited, static_cast<std::int64_t>(d)) != content.unlimited.end();
}

/// Finds scales one by one, and collects them.
class ScalePlanner {
 public:
  ScalePlanner(const std::vector<Member>& members, const std::vector<GroupAttributes>& groups, bool is_netcdf)
      : members_(members), is_netcdf_(is_netcdf) {
    const auto add_groups = [&](std::string group) {
      for (; !group.empty(); group = parent_group(group)) groups_.insert(group);
    };
    for (std::size_t i = 0; i < members.size(); ++i) {
      members_by_name_[members[i].name] = i;
      add_groups(parent_group(members[i].name));
    }
    for (const GroupAttributes& group : groups) add_groups(group.group);
  }

  /// Returns the number of the scale of dimension `d` of an array in that group, which it adds if plan_scales() says
  /// so; -1 if there is none.
  std::ptrdiff_t find_or_add_scale(const std::string& group, const Content& content, std::size_t d) {
    const std::string& name = content.dimension_names[d];
    const std::int64_t length = content.type.shape[d];
    const bool unlimited = is_unlimited(content, d);
    if (!is_object_name(name)) return -1;
    for (std::string searched = group;; searched = parent_group(searched)) {
      const std::string path = join_path(searched, name);
      if (const auto known = scales_by_path_.find(path); known != scales_by_path_.end()) {
        Scale& scale = result_.scales[known->second];
        // An unlimited dimension is as long as the longest array that has it.
        const bool are_both_unlimited = unlimited && scale.unlimited;
        if (are_both_unlimited && !scale.member) scale.length = std::max(scale.length, length);
        if (are_both_unlimited || scale.length == length) return static_cast<std::ptrdiff_t>(known->second);
      } else if (const auto array = members_by_name_.find(path);
                 array != members_by_name_.end() && can_be_scale(array->second, name, unlimited ? -1 : length)) {
        const Content& variable = members_[array->second];
        return add({path, variable.type.shape[0], array->second, !variable.unlimited.empty()});
      }
      if (searched.empty()) break;
    }
    const std::string path = join_path(group, name);
    if (!is_netcdf_ || scales_by_path_.contains(path) || groups_.contains(path)) return -1;
    if (const auto array = members_by_name_.find(path); array != members_by_name_.end())
      result_.non_coordinates.insert(array->second);
    return add({path, length, std::nullopt, unlimited});
  }

  Scales& result() { return result_; }

 private:
  /// Returns true if an array can be the scale of the name. length: its required length; -1 if it must be unlimited.
  bool can_be_scale(std::size_t member, const std::string& name, std::int64_t length) const {
    const Content& content = members_[member];
    const std::vector<std::string>& names = content.dimension_names;
    for (const char* const of_scales : {"CLASS", "NAME", "REFERENCE_LIST"})
      if (find_attribute(content.attributes, of_scales) != nullptr) return false;
    const bool fits = length < 0 ? content.type.shape.size() == 1 && !content.unlimited.empty()
                                 : content.type.shape == Extents{length};
    return fits && (names.empty() || names.front() == name);
  }
  /// Adds a scale. Returns its number.
  std::ptrdiff_t add(Scale scale) {
    scales_by_path_[scale.name] = result_.scales.size();
    result_.scales.push_back(std::move(scale));
    return static_cast<std::ptrdiff_t>(result_.scales.size()) - 1;
  }

  Scales result_;
  const std::vector<Member>& members_;
  const bool is_netcdf_;
  std::map<std::string, std::size_t> members_by_name_;  // numbers of the arrays
  std::map<std::string, std::size_t> scales_by_path_;   // numbers of the scales
  std::set<std::string> groups_;                        // paths of all groups
};

}  // namespace

std::string parent_group(const std::string& name) {
  const std::size_t end = name.rfind('/');
  return end == std::string::npos ? std::string() : name.substr(0, end);
}

Scales plan_scales(const std::vector<Member>& members, const std::vector<GroupAttributes>& groups, bool is_netcdf) {
  ScalePlanner planner(members, groups, is_netcdf);
  planner.result().scales_by_member.resize(members.size());
  // Arrays of upper groups come first, so that their dimensions are available to those of lower groups.
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::ranges::count(members[i].name, '/'); });
  for (const std::size_t i : order) {
    const Content& content = members[i];
    std::vector<std::ptrdiff_t>& scales = planner.result().scales_by_member[i];
    for (std::size_t d = 0; d < content.dimension_names.size(); ++d)
      scales.push_back(planner.find_or_add_scale(parent_group(members[i].name), content, d));
    // netCDF's library reads arrays that have scales for all dimensions or for none.
    if (is_netcdf && std::ranges::any_of(scales, [](std::ptrdiff_t scale) { return scale < 0; }))
      std::ranges::fill(scales, -1);
    for (std::size_t d = 0; d < scales.size(); ++d) {
      if (scales[d] < 0) continue;
      Scale& scale = planner.result().scales[static_cast<std::size_t>(scales[d])];
      if (scale.member != i) scale.uses.emplace_back(i, d);
    }
  }
  return std::move(planner.result());
}

}  // namespace plait::container::hdf5
