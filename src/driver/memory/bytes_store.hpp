/// Shared bytes (bytes.hpp) as a store.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/memory/bytes.hpp"
#include "store/store.hpp"

namespace plait::driver::memory {

/// A store whose bytes are in memory. Its size is fixed.
class BytesStore : public store::Store {
 public:
  /// display_name: the name in errors.
  BytesStore(std::shared_ptr<SharedBytes> bytes, std::string display_name)
      : bytes_(std::move(bytes)), display_name_(std::move(display_name)) {}

  const std::string& name() const override { return display_name_; }
  std::string description() const override { return "memory"; }
  std::int64_t size() override { return bytes_->bytes; }
  bool grows() const override { return false; }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void sync() override {}

 private:
  std::shared_ptr<SharedBytes> bytes_;
  std::string display_name_;
};

}  // namespace plait::driver::memory
