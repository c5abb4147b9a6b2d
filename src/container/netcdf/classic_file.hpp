/// Open files of netCDF's classic formats.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "container/format.hpp"
#include "container/part_store.hpp"

namespace plait::container::netcdf {

/// A variable. If it grows along the record dimension, its records alternate with those of other variables.
class ClassicDataset : public Dataset {
 public:
  /// rows: the location of the elements in `file`. name: the name of the variable in errors.
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
