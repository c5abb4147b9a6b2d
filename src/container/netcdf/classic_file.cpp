#include "container/netcdf/classic_file.hpp"

#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "container/format_registry.hpp"
#include "container/members.hpp"
#include "container/netcdf/netcdf_header.hpp"

namespace plait::container::netcdf {

namespace {

std::vector<Member> take_members(std::vector<Variable>& variables) {
  std::vector<Member> members;
  members.reserve(variables.size());
  for (Variable& one : variables) members.push_back(std::move(one.member));
  return members;
}

std::shared_ptr<store::Store> elements_in(std::shared_ptr<store::Store> file, const Rows& rows,
                                          const std::string& name) {
  if (rows.count == 1) return file;
  return std::make_shared<PartStore>(std::move(file), rows, name);
}

}  // namespace

ClassicDataset::ClassicDataset(Content content, std::shared_ptr<store::Store> file, const Rows& rows,
                               const std::string& name)
    : Dataset(std::move(content), elements_in(std::move(file), rows, name)), rows_(rows) {}

ClassicFile::ClassicFile(std::shared_ptr<store::Store> store, std::string name)
    : store_(std::move(store)), name_(std::move(name)), file_(array_name(name_).file) {}

std::vector<Member> ClassicFile::arrays() {
  std::vector<Variable> variables = read_header(*store_, file_).variables;
  return named(take_members(variables), name_);
}

std::vector<GroupAttributes> ClassicFile::groups() {
  Header header = read_header(*store_, file_);
  return {{{}, std::move(header.attributes), std::move(header.dimensions)}};
}

std::unique_ptr<Dataset> ClassicFile::dataset(const FileOptions& /*stated*/) {
  std::vector<Variable> variables = read_header(*store_, file_).variables;
  const std::vector<Member> members = take_members(variables);
  const Member& member = chosen(members, name_);
  const Rows& rows = variables[static_cast<std::size_t>(&member - members.data())].rows;
  auto content = static_cast<const Content&>(member);
  if (rows.count != 1) content.data_offset = 0;
  const std::int64_t end = rows.begin + (rows.count - 1) * rows.stride + rows.row;
  if (rows.count != 1 && end > store_->size())
    base::throw_system_error(EIO, name_, " ends at byte ", end, " with record ", rows.count, ", but ", file_,
                             " has only ", store_->size(), " bytes; it has been truncated");
  return std::make_unique<ClassicDataset>(std::move(content), store_, rows, name_);
}

}  // namespace plait::container::netcdf
