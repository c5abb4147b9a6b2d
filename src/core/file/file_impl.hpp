/// The implementation of a File.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/recorder.hpp"
#include "collective/collective.hpp"
#include "container/format.hpp"
#include "core/comm/pending_writes.hpp"
#include "core/file/access_plans.hpp"
#include "core/file/attribute_edits.hpp"
#include "core/file/context.hpp"
#include "core/file/selected_array.hpp"
#include "core/file/storage.hpp"
#include "core/file/time_steps.hpp"
#include "core/stream/open_streams.hpp"
#include "plait/file.hpp"
#include "transport/transport.hpp"

namespace plait {

/// The parts of a File, and the calls that concern several of them.
///
///   FileContext     the path, the mode and the ranks
///   FileStorage     the source and the dataset, and whether they are open, closed or failed
///   ArraySelection  the array that accesses refer to
///   TimeSteps       the position among the steps of a pipe
///   AttributeEdits  attributes, and their changes
///   AccessPlans     plans of earlier accesses
///
/// store_access.cpp describes the order of an access, and channel_access.cpp the order of an access to a pipe.
/// threads  One at a time, on the worker, unless a part permits more.
class File::Impl {
 public:
  Impl(const std::string& path, Mode mode, const Comm& comm) : context_(path, mode, comm) {}

  core::FileContext& context() { return context_; }
  core::FileStorage& storage() { return storage_; }
  const core::ArraySelection& selection() const { return selection_; }
  core::TimeSteps& steps() { return steps_; }
  core::AttributeEdits& attributes() { return attributes_; }
  core::AccessPlans& plans() { return plans_; }
  core::PendingWrites& writes() { return writes_; }
  core::OpenStreams& streams() { return streams_; }
  /// The times of the last access.
  const AccessTimes& times() const { return times_; }
  void set_times(const AccessTimes& times) { times_ = times; }

  /// Takes the array that has been opened, in a file of `format`.
  void set_array(core::SelectedArray array, const container::Format& format,
                 std::unique_ptr<container::Dataset> dataset);
  /// Takes the arrays of a new file that is to contain several with names, and selects the first one.
  void set_members(std::vector<container::Member> members);
  /// Takes the type of a source without a store.  several: the type differs from step to step.
  void set_type(const ArrayType& type, bool several);

  /// Executes a read or a write. call: The time of the program's call. flags: The flags of its event.  Collective.
  void access(const core::AccessRequest& request, const base::RecordedCall& call, unsigned flags = 0);
  std::string explain(const core::AccessRequest& request) const;
  /// Extends the array by a block, and writes it.  call: The time of the program's call.  Collective.
  void append(const Layout& layout, const std::vector<MutablePart>& parts, std::int64_t axis,
              const base::RecordedCall& call);
  /// Implement the functions of File of the same names, on the worker.
  void resize(const Extents& shape);
  void select(const ArrayType& type, std::int64_t offset, std::int64_t memory);
  void select_variable(const std::string& name, const std::optional<ArrayType>& type);
  void close();
  void sync();
  void abandon(const std::string& why);
  void fail_call(const std::string& message, int system_code);

 private:
  /// Executes an access without recording its event in a trace.
  void execute(const core::AccessRequest& request, const base::RecordedCall& call);
  /// Checks that the shape of the array can change.
  void check_extensible() const;
  /// Makes accesses refer to an array of another shape. The shape changes in the file when close() commits it.
  void set_shape(const Extents& shape);
  /// Calls set_shape() on every rank. If a rank fails, all of them have the former shape.
  void set_shape_together(collective::Collective& call, const Extents& shape);
  /// True if elements or attributes have changed.
  bool is_changed() const { return storage_.is_written() || !attributes_.empty(); }
  /// Runs the phases of close().  committed: set to true when the file cannot stay open after an error, because a phase
  /// may have changed it.
  void close_together(transport::Transport& transport, bool& committed);

  core::FileContext context_;
  core::FileStorage storage_{context_};
  core::ArraySelection selection_{context_.path()};
  core::TimeSteps steps_{context_, storage_, selection_};
  core::AttributeEdits attributes_{context_, storage_};
  core::AccessPlans plans_;
  core::PendingWrites writes_;
  core::OpenStreams streams_;
  AccessTimes times_;
};

}  // namespace plait
