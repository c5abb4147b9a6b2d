// Adding a dataset to an existing file.
//
// Problem: readers must see the file either without the dataset or with the dataset and all its elements, even if the
// program is killed.
//
// Idea: treat it as a dataset that grows from nothing. Its elements are appended after the end of the file, as append()
// does. commit() creates the dataset in an overlay, and then proceeds as if the dataset had grown. Opening the File
// creates the dataset in another overlay, which is discarded: a creation that cannot succeed is thus an error of open()
// rather than of close().
//
// Example: an array of 3x1000 elements of 4 bytes in one piece is added to a file of 10,000 bytes. The elements are
// written to 12,288..24,287. commit() stores the new metadata from 24,320 on, and one journal holds it and the changed
// bytes of the group.

#include "container/hdf5/growth/added_dataset.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "container/format_registry.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/growth/dataset_creation.hpp"
#include "container/hdf5/hdf_file.hpp"
#include "container/hdf5/opened_file.hpp"
#include "container/hdf5/writing/new_content.hpp"
#include "container/hdf5/writing/scales.hpp"

namespace plait::container::hdf5 {

namespace {

/// Makes those dimensions of a new array unlimited that are unlimited in the netCDF file. As in netCDF, a name stands
/// for the dimension of the nearest group above the array that defines it.  groups: all groups of the file.
void add_unlimited(ArrayDescription& array, const std::vector<GroupAttributes>& groups) {
  for (std::size_t d = 0; d < array.dimension_names.size(); ++d) {
    for (std::string group_name = parent_group(array.name);; group_name = parent_group(group_name)) {
      const auto group = std::ranges::find(groups, group_name, &GroupAttributes::group);
      if (group != groups.end()) {
        const auto dimension = std::ranges::find(group->dimensions, array.dimension_names[d], &GroupDimension::name);
        if (dimension != group->dimensions.end()) {
          if (dimension->unlimited) array.unlimited.push_back(static_cast<std::int64_t>(d));
          break;
        }
      }
      if (group_name.empty()) break;
    }
  }
  std::ranges::sort(array.unlimited);
  const auto repeated = std::ranges::unique(array.unlimited);
  array.unlimited.erase(repeated.begin(), repeated.end());
}

/// Describes the dataset as if the file had it, without elements.
HdfDataset make_dataset(const Member& member) {
  HdfDataset dataset;
  dataset.type = member.type;
  dataset.path = member.name;
  dataset.storage = member.in_chunks() ? Storage::kChunks : Storage::kContiguous;
  if (member.in_chunks()) dataset.chunk = *member.chunk;
  dataset.filters = make_filters(member.codec, member.type.element_bytes);
  dataset.fill = member.fill;
  dataset.has_own_fill = !member.fill.empty();
  dataset.fill.resize(static_cast<std::size_t>(member.type.element_bytes));
  dataset.dimension_names = member.dimension_names;
  dataset.unlimited = member.unlimited;
  dataset.attributes = member.attributes;
  dataset.max_shape = member.type.shape;
  for (const std::int64_t d : member.unlimited)
    dataset.max_shape[static_cast<std::size_t>(d)] = std::numeric_limits<std::int64_t>::max();
  return dataset;
}

}  // namespace

std::unique_ptr<container::Dataset> add_dataset(const std::shared_ptr<store::Store>& file, const std::string& name,
                                                const FileOptions& options) {
  DatasetCreation creation;
  {
    FileOptions array_options = options;
    HdfFile hdf_file(*file, std::string(array_name(name).file));
    creation.is_netcdf = hdf_file.is_netcdf();
    if (creation.is_netcdf) {
      (void)hdf_file.list_datasets("");  // lists the groups
      ArrayDescription array;
      static_cast<ArrayProperties&>(array) = options.properties();
      array.name = without_leading_slash(std::string(*array_name(name).array));
      add_unlimited(array, hdf_file.groups());
      array_options.unlimited = std::move(array.unlimited);
    }
    creation.member = make_added_member(name, array_options, creation.is_netcdf);
  }
  const Member& member = creation.member;
  HdfDataset dataset = make_dataset(member);
  if (member.type.has_texts() && !member.fill.empty())
    base::throw_argument_error(name,
                               " cannot be added: its elements are texts of any length with a fill value; leave "
                               "out the fill value");
  Content content(member.type, 0);
  if (member.in_chunks()) content.chunk = member.chunk;
  content.whole_chunks = dataset.decodes_chunks();
  content.fill = member.fill;
  content.attributes = member.attributes;
  auto added = std::make_shared<ChangedDataset>(file, std::move(dataset), name);
  added->begin_creation(std::move(creation));
  return std::make_unique<OpenedDataset>(std::move(content), added, name);
}

}  // namespace plait::container::hdf5
