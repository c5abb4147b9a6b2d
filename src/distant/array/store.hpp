/// A shared file as the store of an array.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "file/joint.hpp"
#include "plait/shared_file.hpp"

namespace plait::distant::array {

/// Each segment becomes a request of the shared file; some of them are under way at a time.  What follows each other
/// in the file and in memory is one.
class ArrayStore : public file::JointStore {
 public:
  /// `writable`: whether anything can have been written by the time of finish().
  ArrayStore(SharedFile file, const Comm& comm, std::string shown, bool writable);

  const std::string& name() const override { return shown_; }
  std::string description() const override;
  std::int64_t size() override { return file_.size(); }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  /// Of all ranks' disks.  cost    A message to each.
  void sync() override { file_.sync(); }

  std::int64_t stripe_unit() const override { return file_.one() ? 0 : file_.unit(); }
  std::int64_t stripe_disks() const override { return file_.one() ? 0 : file_.components(); }
  void finish() override;

 private:
  SharedFile file_;
  Comm comm_;
  std::string shown_;
  bool writable_;
};

}  // namespace plait::distant::array
