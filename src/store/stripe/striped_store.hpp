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

/// A striped file. Requests are split at the borders of stripes and submitted to all components together. Each
/// component gets one request for consecutive stripes.
class StripedStore : public Store {
 public:
  using Access = posix::PosixStore::Access;

  /// Opens all components. display_name: the name in errors.
  /// errors  kSystem: the message names the first component that cannot be opened.
  StripedStore(const Description& description, Access access, std::string display_name);

  const std::string& name() const override { return display_name_; }
  std::string description() const override;
  Striping striping() const override { return {unit_, static_cast<std::int64_t>(components_.size())}; }
  std::int64_t size() override { return bytes_; }
  bool grows() const override { return false; }
  /// Returns the identities of its components.  errors  kSystem.
  std::vector<Identity> identities() const;
  /// Reads segments.
  /// errors  kSystem, at completion: those of the components, and segments outside the size that the description
  ///         states.
  std::unique_ptr<Pending> submit_read(std::vector<ReadSegment> segments) override;
  std::unique_ptr<Pending> submit_write(std::vector<WriteSegment> segments) override;
  /// Syncs all components at the same time.
  void sync() override;

 private:
  template <typename Segment>
  std::unique_ptr<Pending> submit(std::vector<Segment> segments);

  std::string display_name_;
  std::int64_t unit_;
  std::int64_t bytes_;
  std::vector<std::unique_ptr<posix::PosixStore>> components_;
};

}  // namespace plait::store::stripe
