/// The inside of a File.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "access/access.hpp"
#include "base/process.hpp"
#include "base/recorder.hpp"
#include "base/text.hpp"
#include "collective/collective.hpp"
#include "collective/stopwatch.hpp"
#include "container/format.hpp"
#include "copy/local_array.hpp"
#include "core/comm/worker.hpp"
#include "core/file/access_plans.hpp"
#include "core/file/pending_writes.hpp"
#include "core/file/selected_array.hpp"
#include "core/file/source.hpp"
#include "core/file/unclosed.hpp"
#include "core/stream/open_streams.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"
#include "plait/step.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"

namespace plait {

/// threads  One at a time, in its turn on the worker, but for what is_open() and mark_written() tell.
class File::Impl {
 public:
  Impl(const std::string& path, Mode mode, const Comm& comm);

  const Comm& comm() const { return comm_; }
  const std::string& path() const { return path_; }
  Mode mode() const { return mode_; }
  const core::SelectedArray& array() const { return array_; }
  /// The array's bytes; streams hold it as well.
  const std::shared_ptr<store::Store>& store() const { return store_; }
  const base::Owner& owner() const { return owner_; }
  core::Worker& worker() const { return *worker_; }
  /// What calls take their turns on.  errors  kArgument: this process is a child of the one that opened the file.
  core::Worker& turn() const {
    owner_.check(path_);
    return *worker_;
  }
  core::PendingWrites& writes() { return writes_; }
  core::OpenStreams& streams() { return streams_; }
  const AccessTimes& times() const { return times_; }
  /// This File's number in a trace.
  std::uint32_t recorded() const { return recorded_; }
  /// Flags of the events of calls that all ranks make.
  unsigned together_flags() const { return comm_.alone() ? 0U : unsigned{PLAIT_EVENT_COLLECTIVE}; }
  /// How this File is called where ranks compare what they do.
  std::string name() const { return base::text(path_, " (opened as number ", number_, ')'); }

  /// While it is opened.  number: of this File on its Comm, the same on every rank.
  void set_number(std::int64_t number) { number_ = number; }
  void set_array(core::SelectedArray array, const container::Format& format,
                 std::unique_ptr<container::Dataset> dataset);
  /// The arrays of a new file that is to hold several under names; the first one is selected.
  void set_members(std::vector<container::Member> members);
  const ArrayAttributes& attributes() const { return attributes_; }
  /// Changes of elements that take effect at the end; nullptr: there are none.
  container::DeferredChanges* deferred_changes() const { return dataset_ ? dataset_->deferred_changes() : nullptr; }
  /// The array gets the attribute, or loses it where there is no value.  Collective.
  void change_attribute(const std::string& name, const std::optional<ArrayAttribute>& value);
  /// Of a source without a store.  Of `several` each step describes its own.
  void set_type(const ArrayType& type, bool several);
  void set_source(std::unique_ptr<core::Source> source);
  /// From now on a new file is to be closed.
  void watch_new() noexcept;

  bool is_open() const { return open_; }
  void check_open() const;
  /// The same as far as this rank knows without the others: may be asked on any thread.
  void check_open_here() const;
  /// What is written may be in the store alone; any thread.
  void mark_written() { dirty_ = true; }
  bool is_changed() const { return dirty_ || !changes_.empty(); }

  /// Carries out a read or a write; `asked` is when the program asked for it.  flags: of its event.
  void access(const core::AccessRequest& request, const base::RecordedCall& asked, unsigned flags = 0);
  std::string explain(const core::AccessRequest& request) const;
  bool begin_step(const Attributes& attributes);
  void end_step();
  const Step& step() const { return steps_.step; }
  void select_variable(const std::string& name, const std::optional<ArrayType>& type);
  const std::string& variable() const { return steps_.variable; }
  void select(const ArrayType& wanted, std::int64_t offset, std::int64_t memory);
  void close();
  void sync();
  const core::Source* source() const { return source_.get(); }
  void abandon(const std::string& why);
  void fail_call(const std::string& message, int system_code);
  /// Draws the consequences of a failed collective for later ones.
  void after_failure(const Error& error, bool write);
  /// Calls `body` with this process's transport, or one of a process that is alone.
  void with_transport(const std::function<void(transport::Transport&)>& body);

 private:
  /// Who carries out accesses of a layout.
  core::Workers workers_for(const Layout& layout) const;
  std::string call_text(const core::AccessRequest& request) const;
  /// Whether later collectives on this File are pointless: a rank has gone, or has given the File up.
  bool is_lost(const Error& error) const;
  bool given_up() const;
  /// What the workers of this process move.
  struct Ready {
    core::PlannedAccess* planned = nullptr;
    std::vector<copy::LocalArray> arrays;
  };
  /// errors  kArgument: the mode, the layout, the region and the parts do not fit.
  Ready make_ready(const core::AccessRequest& request, const core::Workers& workers);
  /// What a worker has for its part of an access.
  struct Part {
    const Ready& ready;
    const std::exception_ptr& prepared;  ///< what went wrong on this process before it
    collective::Times& spent;
    std::atomic<bool>& begun;  ///< a write that all ranks have agreed on, so that the store may have changed
  };
  void run(const core::AccessRequest& request, const base::RecordedCall& asked, std::atomic<bool>& begun);
  /// The same where there is a channel.
  void transfer(const core::AccessRequest& request);
  core::Transfer transfer_of(const core::AccessRequest& request, std::span<const copy::LocalArray> arrays,
                             collective::Times& spent) const;
  void step_together(const std::function<void(transport::Transport&)>& body);
  bool take_step(collective::Collective& call, const Attributes& attributes);
  void give_step(collective::Collective& call);
  core::Channel* channel() const { return source_ ? source_->channel() : nullptr; }
  void run_worker(transport::Transport& transport, const core::AccessRequest& request, const Part& part);
  void check_mode(bool write) const;
  /// What the program reads before it has seen the step must be what it expects, or its arrays do not fit.
  void check_same(const ArrayType& expected);
  /// select_variable() where there are members.
  void select_member(const std::string& name, const std::optional<ArrayType>& type);
  /// errors  kArgument: why an attribute does not get the value, or is not removed if that is nullptr.
  void check_attribute(const std::string& name, const ArrayAttribute* value) const;
  /// Calls `body` if attributes have changed; what it throws says what has become of the elements as well.
  /// committed: whether deferred changes have taken effect.
  void change_attributes(const std::function<void(container::AttributeWriter&)>& body, bool committed) const;
  /// Drops what cannot become whole any more.
  void fail() noexcept;
  void end() noexcept;
  /// Whether a write of the selected array needs make_room() first: it lies behind the end of a new store that does not
  /// grow by being written.
  bool needs_room(bool write) const;
  /// Makes that longer.  Collective.
  void make_room(collective::Collective& call);

  const Comm comm_;
  const std::string path_;
  const Mode mode_;
  const std::shared_ptr<core::Worker> worker_;
  const base::Owner owner_;
  const std::uint32_t recorded_;
  std::int64_t number_ = 0;
  core::SelectedArray array_;
  std::unique_ptr<transport::Transport> alone_;  // of a channel whose process is alone
  std::unique_ptr<core::Source> source_;         // while it is open
  const container::Format* format_ = nullptr;    // none of a channel
  std::unique_ptr<container::Dataset> dataset_;  // while it is open
  std::shared_ptr<store::Store> store_;          // of the dataset; another one after make_room()
  std::vector<container::Member> members_;
  ArrayAttributes attributes_;
  AttributeChanges changes_;     // of attributes, the same on every rank
  core::NewFileWatch unclosed_;  // mode `w`, on rank 0
  /// Where it is among its steps.
  struct Steps {
    Step step;
    bool inside = false;   // of one that the program has begun
    bool spoiled = false;  // a write of it has failed
    bool ended = false;    // there will be no more to read
    std::int64_t next = 0;
    std::string variable{kOneVariable};
    std::map<std::string, ArrayType> types;  // what is known of the arrays outside of any step
  };
  static constexpr const char* kOneVariable = core::kOneVariable;
  Steps steps_;
  AccessTimes times_;
  std::atomic<bool> open_{false};
  std::atomic<bool> broken_{false};  // a collective failed in a way that no later one can mend
  std::atomic<bool> dirty_{false};   // elements were written
  core::PendingWrites writes_;
  core::OpenStreams streams_;
  core::AccessPlans plans_;
};

}  // namespace plait
