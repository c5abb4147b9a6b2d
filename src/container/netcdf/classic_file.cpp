#include "container/netcdf/classic_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "container/format_registry.hpp"
#include "container/hdf5/changing/journal.hpp"
#include "container/members.hpp"
#include "container/netcdf/netcdf_header.hpp"

namespace plait::container::netcdf {

namespace {

/// Moves the array descriptions out of the variables.
std::vector<Member> take_members(std::vector<Variable>& variables) {
  std::vector<Member> members;
  members.reserve(variables.size());
  for (Variable& variable : variables) members.push_back(std::move(variable.member));
  return members;
}

/// Returns the store of a variable's elements: the file if they are contiguous, otherwise the rows as a store.
std::shared_ptr<store::Store> make_element_store(const std::shared_ptr<store::Store>& file, const Placement& placement,
                                                 const std::string& name) {
  if (placement.rows.count == 1 && !placement.can_extend) return file;
  return std::make_shared<PartStore>(file, placement.rows, name);
}

}  // namespace

ClassicDataset::ClassicDataset(Content content, std::shared_ptr<store::Store> file, const Placement& placement,
                               std::string name)
    : Dataset(std::move(content), make_element_store(file, placement, name)),
      file_(std::move(file)),
      placement_(placement),
      name_(std::move(name)) {}

ClassicDataset::~ClassicDataset() {
  if (records_) records_->release(content().name);
}

void ClassicDataset::begin() {
  // Lock the file first, then read the header: the lock excludes other programs that add records. The destructor
  // releases it.
  records_ = RecordFile::open(file_, name_, content().name);
  const std::vector<Variable> variables = read_header(*file_, name_).variables;
  const auto found =
      std::ranges::find(variables, content().name, [](const Variable& variable) { return variable.member.name; });
  if (found == variables.end() || !found->grows)
    base::throw_argument_error(name_,
                               " cannot grow: its first dimension is not the unlimited one of the file; copy it to a "
                               "netCDF-4 file in which it is (plait copy --unlimited)");
  if (found->member.type.shape != content().type.shape)
    base::throw_system_error(EBUSY, name_, " has been changed by another program while it was opened; open it again");
  placement_ = {.rows = found->records, .can_extend = true};
  Content changed = content();
  changed.data_offset = 0;
  replace(std::move(changed), make_element_store(file_, placement_, name_));
}

void ClassicDataset::reduce(const Extents& shape) {
  base::throw_argument_error(name_, " cannot get the shape ", shape_to_string(shape),
                             ": records of a classic netCDF file are not removed; copy a part of it to a new file");
}

std::unique_ptr<Dataset> ClassicDataset::with_shape(const Extents& shape) {
  Content changed = content();
  for (std::size_t d = 1; d < shape.size(); ++d)
    if (shape[d] != changed.type.shape[d])
      base::throw_argument_error(name_, " cannot get the shape ", shape_to_string(shape), " instead of ",
                                 shape_to_string(changed.type.shape),
                                 ": only the first dimension is unlimited; copy it to a netCDF-4 file for others");
  changed.type.shape = shape;
  Placement placement = placement_;
  placement.rows.count = shape.front();
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(placement.rows.stride, shape.front(), &bytes) || bytes > INT64_MAX - placement.rows.begin)
    base::throw_argument_error(name_, ": ", shape.front(), " records would end after byte 2^63");
  if (records_) records_->extend(content().name, shape.front());
  auto reshaped = std::make_unique<ClassicDataset>(std::move(changed), file_, placement, name_);
  reshaped->records_ = std::move(records_);
  return reshaped;
}

void ClassicDataset::commit() {
  if (placement_.is_new) return new_variable_->commit();
  records_->commit(content().name, content().type.shape.front());
}

ClassicFile::ClassicFile(std::shared_ptr<store::Store> store, std::string name)
    : store_(std::move(store)), name_(std::move(name)), file_(array_name(name_).file) {
  if (store_->file_identity()) hdf5::recover_from_journal(store_->name());
}

std::vector<Member> ClassicFile::arrays() {
  std::vector<Variable> variables = read_header(*store_, file_).variables;
  return select_members(take_members(variables), name_);
}

std::vector<GroupAttributes> ClassicFile::groups() {
  Header header = read_header(*store_, file_);
  return {{{}, std::move(header.attributes), std::move(header.dimensions)}};
}

bool ClassicFile::lacks_array() const {
  std::string_view array = array_name(name_).array.value_or("");
  while (array.starts_with('/')) array.remove_prefix(1);
  if (array.empty()) return false;
  const std::vector<Variable> variables = read_header(*store_, file_).variables;
  return std::ranges::find(variables, array, [](const Variable& variable) { return variable.member.name; }) ==
         variables.end();
}

std::unique_ptr<Dataset> ClassicFile::add(const FileOptions& options) {
  auto variable = std::make_unique<NewVariable>(store_, name_, options);
  const Member& member = variable->member();
  Content content = static_cast<const Content&>(member);
  const Rows rows{member.data_offset, member.stored, member.stored, 1};
  const Placement placement{.rows = rows, .can_extend = false, .is_new = true};
  auto dataset = std::make_unique<ClassicDataset>(std::move(content), store_, placement, name_);
  dataset->set_new(std::move(variable));
  return dataset;
}

std::unique_ptr<Dataset> ClassicFile::dataset(const FileOptions& /*stated*/) {
  std::vector<Variable> variables = read_header(*store_, file_).variables;
  const std::vector<Member> members = take_members(variables);
  const Member& member = find_member(members, name_);
  const Rows rows = variables[static_cast<std::size_t>(&member - members.data())].rows;
  auto content = static_cast<const Content&>(member);
  if (rows.count != 1) content.data_offset = 0;
  const std::int64_t end = rows.begin + (rows.count - 1) * rows.stride + rows.row_bytes;
  if (rows.count != 1 && end > store_->size())
    base::throw_system_error(EIO, name_, " ends at byte ", end, " with record ", rows.count, ", but ", file_,
                             " has only ", store_->size(), " bytes; it has been truncated");
  return std::make_unique<ClassicDataset>(std::move(content), store_, Placement{rows}, name_);
}

}  // namespace plait::container::netcdf
