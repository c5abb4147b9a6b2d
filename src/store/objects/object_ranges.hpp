/// One large object as a store that is read by ranges.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/objects/object_store.hpp"
#include "store/store.hpp"

namespace plait::store {

/// The part of an object that its first request reads.
enum class FirstRead : std::uint8_t {
  kBegin,  ///< the first 64 KiB, because most formats have their headers there
  kEnd     ///< the last 128 KiB, because zip files have their directory there
};

/// An object of a format that is one file, such as .npy. All reads have the condition that the object is the one whose
/// beginning was read first: a replaced object is an error, never a mixture.
/// threads  Any number at once.
class ObjectRanges : public Store {
 public:
  /// location: the location of the object. details: those of another rank, with which no request is sent; a read then
  /// fails if the object has been replaced. Empty: a part of the object is read.
  /// errors  Those of open_objects().  kSystem, ENOENT: there is no such object.
  explicit ObjectRanges(std::string location, std::string_view details = {}, FirstRead first = FirstRead::kBegin);

  const std::string& name() const override { return location_; }
  std::string description() const override { return "an object that is read by ranges"; }
  bool is_cold() override { return true; }
  std::int64_t size() override { return size_; }
  bool grows() const override { return false; }
  std::unique_ptr<Pending> submit_read(std::vector<ReadSegment> segments) override;
  std::unique_ptr<Pending> submit_write(std::vector<WriteSegment> segments) override;
  std::optional<std::string> object_identity() const override;
  void sync() override {}

  /// Returns the size and the identity of the object for other ranks.
  std::string details() const;
  const ObjectIdentity& identity() const { return identity_; }

 private:
  void read_first(FirstRead first);
  bool copy_known(const ReadSegment& segment) const;
  void read_now(std::vector<ReadSegment> segments);
  [[noreturn]] void throw_replaced() const;

  std::string location_;
  std::string object_;
  std::shared_ptr<ObjectStore> objects_;
  ObjectIdentity identity_;
  std::int64_t size_ = 0;
  std::int64_t known_begin_ = 0;  // offset of the bytes that the first request has read
  std::vector<std::byte> known_;
};

}  // namespace plait::store
