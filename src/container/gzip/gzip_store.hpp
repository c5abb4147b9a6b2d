/// The content of a gzipped file, or of deflated bytes in another file, as a read-only store.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "container/gzip/index.hpp"
#include "container/gzip/inflater.hpp"
#include "store/store.hpp"

namespace plait::container::gzip {

/// A store that inflates the requested bytes. A read that begins where an earlier one has ended continues with the same
/// inflater; other reads begin at a restart point of the index. Threads inflate in parallel.
class GzipStore : public store::Store {
 public:
  GzipStore(std::shared_ptr<store::Store> file, Index index);

  const Index& index() const { return index_; }
  /// Returns the store of the deflated bytes.
  const store::Store& file() const { return *file_; }
  const std::string& name() const override { return file_->name(); }
  std::string description() const override;
  std::int64_t size() override { return index_.content_bytes; }
  bool grows() const override { return false; }
  /// Begins to read segments; complete() inflates them.
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  /// Always fails, because the store is read-only.  errors  kArgument.
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void sync() override {}

  /// Reads a segment of the content.
  /// errors  kSystem: the segment ends after the content, or the data are damaged; the message has their position.
  void inflate(const store::ReadSegment& segment);

 private:
  /// Returns an idle inflater at or before `offset`, or a new one at the last restart point before `offset` if that is
  /// nearer.
  std::unique_ptr<Inflater> acquire(std::int64_t offset);
  /// Adds an inflater to the idle ones. If there are too many, destroys the one that was used least recently.
  void recycle(std::unique_ptr<Inflater> inflater);

  std::shared_ptr<store::Store> file_;
  Index index_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Inflater>> idle_;  // the most recently used one last; about 170 KiB each
};

/// Throws the error that gzipped files cannot be written.  name: of the file, with the suffix `.gz`.
[[noreturn]] void throw_read_only(const std::string& name);

}  // namespace plait::container::gzip
