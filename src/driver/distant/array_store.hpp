/// A shared file as the store of an array.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plait/shared_file.hpp"
#include "store/store.hpp"

namespace plait::driver::distant {

/// The store of an array in a shared file. Each segment becomes a request of the shared file, of which several are in
/// flight at a time. Segments that are adjacent in the file and in memory become one request.
class ArrayStore : public store::Store {
 public:
  ArrayStore(SharedFile file, std::string display_name)
      : file_(std::move(file)), display_name_(std::move(display_name)) {}

  const std::string& name() const override { return display_name_; }
  std::string description() const override;
  store::Striping striping() const override {
    return !file_.is_striped() ? store::Striping{} : store::Striping{file_.unit(), file_.components()};
  }
  std::int64_t size() override { return file_.size(); }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  /// Syncs the disks of all ranks.  cost  A message to each rank.
  void sync() override { file_.sync(); }
  /// Closes the shared file. Collective.  errors  kSystem, the same on every rank.
  void close() { file_.close(); }

 private:
  SharedFile file_;
  std::string display_name_;
};

}  // namespace plait::driver::distant
