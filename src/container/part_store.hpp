/// A store that consists of a part of another store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "store/store.hpp"

namespace plait::container {

/// The location of a part in the whole store: `count` rows of `row_bytes` bytes. Each row begins `stride` bytes after
/// the beginning of the row before it.
struct Rows {
  std::int64_t begin = 0;  ///< offset of the first row in the whole store
  std::int64_t row_bytes = 0;
  std::int64_t stride = 0;
  std::int64_t count = 0;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Rows>& rows) {
  codec(rows.begin, rows.row_bytes, rows.stride, rows.count);
}

/// The rows of a part as consecutive bytes, without the bytes between them. Rows that are short and near to each other
/// are read in blocks of up to 1 MiB, together with the bytes between them, and then copied to the caller's memory;
/// otherwise each row needs one request.
class PartStore : public store::Store {
 public:
  /// whole: the store that contains the part. rows: they must not overlap, and must end before 2^63. name: the name of
  /// the part in errors.
  PartStore(std::shared_ptr<store::Store> whole, const Rows& rows, std::string name);

  const Rows& rows() const { return rows_; }
  store::Store& whole() const { return *whole_; }
  const std::string& name() const override { return name_; }
  std::string description() const override { return whole_->description(); }
  std::int64_t size() override { return rows_.row_bytes * rows_.count; }
  bool grows() const override { return false; }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void sync() override { whole_->sync(); }

  /// Reads a segment of the part by requests that include the bytes between rows.
  void read_with_gaps(const store::ReadSegment& segment);

 private:
  /// Checks that a range is in the part.  errors  kSystem: it is not.
  void check_range(std::int64_t offset, std::int64_t bytes) const;

  std::shared_ptr<store::Store> whole_;
  Rows rows_;
  std::string name_;
};

}  // namespace plait::container
