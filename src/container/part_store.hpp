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

/// The location of the part in the whole store: `count` rows of `row` bytes. Each row begins `stride` bytes after the
/// row before it.
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

/// The rows of a part as consecutive bytes, without the bytes between them. Rows that are short and near to each other
/// are read in blocks of up to 1 MiB, together with the bytes between them, and copied out; otherwise each row needs
/// one request.
class PartStore : public store::Store {
 public:
  /// name: the name of the part in errors. The rows do not overlap and end before 2^63.
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

  /// Reads rows together with the bytes between them.
  void read_together(const store::ReadSegment& segment);

 private:
  /// Checks that a range is in the part.  errors  kSystem: it is not.
  void check(std::int64_t offset, std::int64_t bytes) const;

  std::shared_ptr<store::Store> whole_;
  Rows rows_;
  std::string name_;
};

}  // namespace plait::container
