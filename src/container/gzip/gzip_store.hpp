/// The content of a gzipped file, or of deflated bytes in another one, as a store that is only read.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "container/gzip/index.hpp"
#include "container/gzip/inflater.hpp"
#include "store/store.hpp"

namespace plait::container::gzip {

/// Who reads on where an earlier read has ended goes on inflating there; other reads begin at a restart point.  Threads
/// inflate beside each other.
class GzipStore : public store::Store {
 public:
  GzipStore(std::shared_ptr<store::Store> file, Index index);

  const Index& index() const { return index_; }
  /// What is packed.
  const store::Store& file() const { return *file_; }
  const std::string& name() const override { return file_->name(); }
  std::string description() const override;
  std::int64_t size() override { return index_.unpacked; }
  bool grows() const override { return false; }
  /// Inflated when the batch is completed.
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  /// errors  kArgument: always.
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void sync() override {}

  /// errors  kSystem: behind the end; damaged data, and where.
  void inflate(const store::ReadSegment& segment);

 private:
  /// One that stands at `offset` or can be brought there by inflating less than from the next restart point.
  std::unique_ptr<Inflater> take(std::int64_t offset);
  void recycle(std::unique_ptr<Inflater> inflater);

  std::shared_ptr<store::Store> file_;
  Index index_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Inflater>> idle_;  // the last used last; some 170 KiB each
};

[[noreturn]] void throw_read_only(const std::string& name);

}  // namespace plait::container::gzip
