/// Bytes distributed round-robin to several files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/posix/posix_store.hpp"
#include "store/store.hpp"
#include "store/stripe/stripe_description.hpp"

namespace plait::store::stripe {

/// Requests are cut at the stripes and submitted to all components together, each of which gets one request for stripes
/// that follow each other there.
class StripedStore : public Store {
 public:
  using Access = posix::PosixStore::Access;

  /// Opens all components.  `shown` is the name that errors use.  errors  kSystem: names the first component that
  /// cannot be opened.
  StripedStore(const Description& description, Access access, std::string shown);

  const std::string& name() const override { return shown_; }
  std::string description() const override;
  Striping striping() const override { return {unit_, static_cast<std::int64_t>(components_.size())}; }
  std::int64_t size() override { return bytes_; }
  bool grows() const override { return false; }
  /// Of its components.  errors  kSystem.
  std::vector<Identity> identities() const;
  /// errors  kSystem, at completion: also segments that lie outside of the file, which has the size that its
  ///         description says.
  std::unique_ptr<Pending> submit_read(std::vector<ReadSegment> segments) override;
  std::unique_ptr<Pending> submit_write(std::vector<WriteSegment> segments) override;
  /// All disks write at the same time.
  void sync() override;

 private:
  template <typename Segment>
  std::unique_ptr<Pending> submit(std::vector<Segment> segments);

  std::string shown_;
  std::int64_t unit_;
  std::int64_t bytes_;
  std::vector<std::unique_ptr<posix::PosixStore>> components_;
};

}  // namespace plait::store::stripe
