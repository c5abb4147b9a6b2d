/// The store, dataset and source that a File has open.
#pragma once

#include <atomic>
#include <memory>

#include "base/function_ref.hpp"
#include "collective/collective.hpp"
#include "container/dataset.hpp"
#include "core/file/context.hpp"
#include "core/file/source.hpp"
#include "core/file/unclosed.hpp"
#include "plait/error.hpp"
#include "store/store.hpp"

namespace plait::core {

/// The source and the dataset of a File, and whether they are open, closed or failed.
///
/// A File is open from open() on.  end() closes it, and fail() makes it unusable as well: later calls throw an Error
/// that asks the caller to open the file again.  Neither waits for other ranks.
/// threads  One at a time, on the worker, except for is_open(), check_open_here() and mark_written().
class FileStorage {
 public:
  explicit FileStorage(FileContext& context) : context_(context) {}

  void open(std::unique_ptr<Source> source);
  /// The dataset of the source's store; pipes have none.
  void set_dataset(std::unique_ptr<container::Dataset> dataset);
  /// Mode `w`: warns from now on if the file is never closed.
  void watch_new() noexcept;

  bool is_open() const { return open_; }
  /// errors  kArgument: the file is closed or has failed.  kSystem: a rank has abandoned it.
  void check_open() const;
  /// Performs these checks except for the one for abandoned files, which needs the transport.
  void check_open_here() const;
  /// Records that elements may be in the store only.
  void mark_written() { written_ = true; }
  bool is_written() const { return written_; }
  /// Mode `a`: close() adds the array to the file, also if no element has been written.
  void mark_added() { written_ = added_ = true; }

  /// Makes a collective call on an open file.  An error has the consequences of handle_error().
  void call_together(base::FunctionRef<void(transport::Transport&)> body);
  /// Makes the file fail after an error that no later call can recover from: a rank is lost or has abandoned the file,
  /// or a new array lacks elements because a write has failed.  `write`: the error belongs to a write.
  void handle_error(const Error& error, bool write);
  /// Ends the file for good, and a pipe with the error `why` at its other end.
  void fail(const char* why);
  void end() noexcept;

  Source* source() const { return source_.get(); }
  /// nullptr: the elements are in a store.
  Channel* channel() const { return source_ ? source_->channel() : nullptr; }
  /// The elements.  Streams share it.
  const std::shared_ptr<store::Store>& store() const { return store_; }
  bool has_dataset() const { return dataset_ != nullptr; }
  /// nullptr: every write takes effect at once.
  container::DeferredChanges* deferred_changes() const { return dataset_ ? dataset_->deferred_changes() : nullptr; }
  /// nullptr: the attributes do not change in place.
  container::AttributeWriter* attribute_writer() const { return dataset_ ? dataset_->attribute_writer() : nullptr; }
  /// nullptr: the elements have a fixed size.
  container::TextAccess* texts() const { return dataset_ ? dataset_->texts() : nullptr; }
  /// nullptr: the shape does not change in place.
  container::ShapeChanges* shape_changes() const { return dataset_ ? dataset_->shape_changes() : nullptr; }
  /// Extends a new store of raw elements that does not grow by being written.
  void resize(collective::Collective& call, std::int64_t bytes);
  /// Makes all elements durable that this rank has written.
  void sync() const;
  /// True if the dataset has a store of its own, which views that of the source.
  bool has_view() const { return store_ && store_ != source_->store(); }

 private:
  FileContext& context_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<container::Dataset> dataset_;
  std::shared_ptr<store::Store> store_;
  NewFileWatch watch_;  // mode `w`, on rank 0
  std::atomic<bool> open_{false};
  std::atomic<bool> failed_{false};
  std::atomic<bool> written_{false};
  std::atomic<bool> added_{false};
};

}  // namespace plait::core
