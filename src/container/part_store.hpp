/// A part of a store as a store of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "store/store.hpp"

namespace plait::container {

/// Where the bytes of the part lie in the whole: rows of `row` bytes, of which each begins `stride` bytes behind the
/// one before.
struct Rows {
  std::int64_t begin = 0;
  std::int64_t row = 0;
  std::int64_t stride = 0;
  std::int64_t count = 0;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Rows>& rows) {
  codec(rows.begin, rows.row, rows.stride, rows.count);
}

/// The rows one behind the other, without what lies between them.  Rows that are short and near to each other are read
/// together with that, by blocks of 1 MiB, and taken out of it; otherwise each is a request of its own.
class PartStore : public store::Store {
 public:
  /// name: of the part, for errors.  The rows do not overlap and end before 2^63.
  PartStore(std::shared_ptr<store::Store> whole, const Rows& rows, std::string name);

  const Rows& rows() const { return rows_; }
  store::Store& whole() const { return *whole_; }
  const std::string& name() const override { return name_; }
  std::string description() const override { return whole_->description(); }
  std::int64_t size() override { return rows_.row * rows_.count; }
  bool grows() const override { return false; }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void sync() override { whole_->sync(); }

  /// Reads rows together with what lies between them.
  void read_together(const store::ReadSegment& segment);

 private:
  /// errors  kSystem: it is not in the part.
  void check(std::int64_t offset, std::int64_t bytes) const;

  std::shared_ptr<store::Store> whole_;
  Rows rows_;
  std::string name_;
};

}  // namespace plait::container
