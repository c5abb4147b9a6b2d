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

  bool is_open() const { return is_open_; }
  /// errors  kArgument: the file is closed or has failed.  kSystem: a rank has abandoned it.
  void check_open() const;
  /// Performs these checks except for the one for abandoned files, which needs the transport.
  void check_open_here() const;
  /// Records that elements have been written, which close() may have to make durable.
  void mark_written() { is_written_ = true; }
  bool is_written() const { return is_written_; }
  /// Mode `a`: close() adds the array to the file, also if no element has been written.
  void mark_added() { is_written_ = is_added_ = true; }

  /// Runs the body of a collective call on an open file.  Passes its errors to handle_error() and throws them.
  void call_together(base::FunctionRef<void(transport::Transport&)> body);
  /// Makes the file fail after an error that no later call can recover from: a rank is lost or has abandoned the file,
  /// or a new array lacks elements because a write has failed.  is_write: true for the error of a write.
  void handle_error(const Error& error, bool is_write);
  /// Makes the file unusable.  The other end of a pipe gets the error `why`.
  void fail(const char* why);
  /// Closes the file on this rank: releases the store and the source.
  void end() noexcept;

  Source* source() const { return source_.get(); }
  /// Returns the channel; nullptr if the elements are in a store.
  Channel* channel() const { return source_ ? source_->channel() : nullptr; }
  /// Returns the store with the elements, which streams share.
  const std::shared_ptr<store::Store>& store() const { return store_; }
  bool has_dataset() const { return dataset_ != nullptr; }
  // The following parts of the dataset are nullptr if the format does not need or support them.
  /// Changes that close() commits; nullptr: every write takes effect at once.
  container::DeferredChanges* deferred_changes() const { return dataset_ ? dataset_->deferred_changes() : nullptr; }
  /// Writes changes of attributes; nullptr: the attributes do not change in place.
  container::AttributeWriter* attribute_writer() const { return dataset_ ? dataset_->attribute_writer() : nullptr; }
  /// Converts elements that are texts of any length; nullptr: the elements have a fixed size.
  container::TextAccess* texts() const { return dataset_ ? dataset_->texts() : nullptr; }
  /// Changes the shape; nullptr: the shape does not change in place.
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
  std::atomic<bool> is_open_{false};
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_written_{false};
  std::atomic<bool> is_added_{false};
};

}  // namespace plait::core
