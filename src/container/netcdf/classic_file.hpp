/// Opened files of netCDF's classic formats.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "container/format.hpp"
#include "container/part_store.hpp"

namespace plait::container::netcdf {

/// A variable.  If it grows along the record dimension, the records of other variables lie between its own.
class ClassicDataset : public Dataset {
 public:
  /// rows: where the elements lie in `file`.  name: of the variable, for errors.
  ClassicDataset(Content content, std::shared_ptr<store::Store> file, const Rows& rows, const std::string& name);
  std::string encoded() const override { return base::encode(rows_); }

 private:
  Rows rows_;
};

class ClassicFile : public OpenedFile {
 public:
  ClassicFile(std::shared_ptr<store::Store> store, std::string name);
  std::vector<Member> arrays() override;
  std::vector<GroupAttributes> groups() override;
  std::unique_ptr<Dataset> dataset(const FileOptions& stated) override;

 private:
  std::shared_ptr<store::Store> store_;
  std::string name_;
  std::string file_;
};

}  // namespace plait::container::netcdf
