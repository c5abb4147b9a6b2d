/// The inside of a File.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "access/access.hpp"
#include "base/process.hpp"
#include "base/recorder.hpp"
#include "base/text.hpp"
#include "collective/collective.hpp"
#include "collective/stopwatch.hpp"
#include "copy/local_array.hpp"
#include "core/comm/worker.hpp"
#include "core/file/source.hpp"
#include "core/file/unclosed.hpp"
#include "plait/error.hpp"
#include "plait/file.hpp"
#include "plait/stream.hpp"
#include "plan/access/access.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"

namespace plait {

/// What an access does: reads, reads and fills the halos as well, or writes.
enum class Action : std::uint8_t { kRead, kFill, kWrite };

class File::Impl {
 public:
  Comm comm;
  std::string path;
  Mode mode = Mode::kRead;
  ArrayType type;
  std::int64_t data_offset = 0;
  Extents chunk;  // the shape of the chunks that the array lies in; empty: none
  plan::AccessOptions access_options;
  bool several = false;                  // raw arrays behind each other, of which `type` and `data_offset` name one
  std::int64_t opening_memory = 0;       // what select() falls back to
  std::unique_ptr<core::Source> source;  // while it is open
  std::shared_ptr<store::Store> store;   // the array's bytes; streams hold it as well
  core::NewFileWatch unclosed;           // mode `w`, on rank 0
  AccessTimes times;
  std::int64_t number = 0;  // of this File on its Comm, the same on every rank
  std::atomic<bool> open{false};
  std::atomic<bool> broken{false};  // a collective failed in a way that no later one can mend
  std::atomic<bool> dirty{false};   // independent streams set it too
  std::shared_ptr<core::Worker> worker;
  const base::Owner owner;
  std::uint32_t recorded = 0;       // this File's number in a trace
  std::int64_t streams_opened = 0;  // the same on every rank

  /// What calls take their turns on.  errors  kArgument: this process is a child of the one that opened the file.
  core::Worker& turn() const {
    owner.check(path);
    return *worker;
  }

  /// From now on a new file is to be closed.
  void watch_new() noexcept;

  /// Makes the room that keep_write() takes: once a write has started, remembering it must not fail.
  void room_for_write();
  /// Remembers a started write, which may fail without anybody knowing.
  void keep_write(const std::shared_ptr<Request::Impl>& write);
  /// A new file has lost a part on this rank alone: close() is to fail on all ranks.
  void lose_write(const std::exception_ptr& error);

  void add_stream(const std::shared_ptr<Stream::Impl>& stream);
  /// Waits for what was started on this File's streams.
  void settle_streams();
  /// Lets them know that this File goes.
  void detach_streams();
  /// Lets go of the store on behalf of the streams of a File that is closed.
  void release_streams();

  /// Carries out a read or a write; `asked` is when the program asked for it.  flags: of its event.
  void access(const Layout& layout, const std::vector<MutablePart>& parts, const Region& region, Action action,
              const base::RecordedCall& asked, unsigned flags = 0);
  plan::AccessPlan plan(const Layout& layout, const Region& region, int workers, bool nodes_apart, Action action) const;
  /// Threads that a process which is alone moves a layout with.
  int useful_threads(const Layout& layout) const;
  void select(const ArrayType& wanted, std::int64_t offset, std::int64_t memory);
  /// The unit that shares are multiples of, which depends on the stripes and the elements.
  void choose_storage_unit();
  /// What an access to a region touches.  errors  kArgument: the region does not fit the array.
  plan::Section section_of(const Region& region) const { return {type.shape, type.order, region, chunk}; }
  void close();
  void abandon();
  void refuse(const std::string& message);
  void check_open() const;
  /// The same as far as this rank knows without the others: may be asked on any thread.
  void check_open_here() const;
  /// Draws the consequences of a failed collective for later ones.
  void after_failure(const Error& error, bool write);
  /// Flags of the events of calls that all ranks make.
  unsigned together_flags() const { return comm.alone() ? 0U : unsigned{PLAIT_EVENT_COLLECTIVE}; }
  /// How this File is called where ranks compare what they do.
  std::string name() const { return base::text(path, " (opened as number ", number, ')'); }
  /// Calls `body` with this process's transport, or one of a process that is alone.
  void with_transport(const std::function<void(transport::Transport&)>& body);

 private:
  /// The error of a started write that nobody has waited for, or of a part of a new file that is lost; none the next
  /// time, so ask only where it is sure to be told.
  std::exception_ptr untold_error();
  /// A plan and what it was made for; programs repeat their accesses.
  struct Planned {
    Extents shape;  // of the array in the file, and where and how it is accessed
    std::int64_t element_bytes;
    Order order;
    std::int64_t offset;
    std::int64_t memory;
    Layout layout;
    Region region;
    int workers;
    Action action;
    plan::AccessPlan plan;
    std::string call;  // in words, to agree on
  };
  /// One of the last plans where it serves again, or a new one.
  const Planned& planned(const Layout& layout, const Region& region, int workers, bool nodes_apart, Action action);
  std::string call_text(const Layout& layout, const Region& region, Action action) const;
  /// Whether later collectives on this File are pointless: a rank has gone, or has given the File up.
  bool is_lost(const Error& error) const;
  bool given_up() const;
  /// What a worker's part of an access is made of.
  struct Ready {
    const Planned* planned = nullptr;
    std::vector<copy::LocalArray> arrays;
  };
  /// errors  kArgument: the mode, the layout, the region and the parts do not fit.
  Ready make_ready(const Layout& layout, const std::vector<MutablePart>& parts, const Region& region, Action action,
                   int workers, bool nodes_apart);
  /// `ready` must outlive it.
  std::unique_ptr<access::Move> make_move(transport::Transport& transport, const Ready& ready,
                                          collective::Times& spent);
  /// `begun` tells whether all ranks have agreed on this write, so that the store may have changed.
  void run_together(const Layout& layout, const std::vector<MutablePart>& parts, const Region& region, Action action,
                    bool& begun);
  void run_alone(const Layout& layout, const std::vector<MutablePart>& parts, const Region& region, Action action,
                 bool& begun, const base::RecordedCall& asked);
  void check_mode(bool write) const;
  /// Drops what cannot become whole any more.
  void fail() noexcept;
  /// Whether a write of the selected array needs make_room() first: it lies behind the end of a new store that does not
  /// grow by being written.
  bool needs_room(bool write) const;
  /// Makes that longer.  Collective.
  void make_room(collective::Collective& call);

  std::mutex writes_mutex_;  // independent streams may write on other threads
  std::vector<std::shared_ptr<Request::Impl>> writes_;
  std::exception_ptr lost_write_;
  std::vector<std::weak_ptr<Stream::Impl>> streams_;

  static constexpr std::size_t kPlansKept = 8;
  std::vector<std::unique_ptr<Planned>> plans_;  // the last used first
};

namespace core {

/// errors  kArgument: the layout has ranks beyond the Comm.
void check_ranks(const Layout& layout, const Comm& comm);

/// Threads that a process which is alone moves so many elements with.
int useful_threads(std::int64_t elements, std::int64_t element_bytes);

/// Checks the ranks, and that the parts are as many as this process holds (all ranks of the layout, ascending, where it
/// is alone; else its own, which may be none) and turns them into arrays with steps for every dimension.
std::vector<copy::LocalArray> local_arrays(const Layout& layout, std::span<const MutablePart> parts,
                                           std::int64_t element_bytes, const Comm& comm);

/// Brings an argument error of this rank to the agreement that the others are at.
[[noreturn]] void refuse(const Comm& comm, const std::string& message);

/// The same parts; one path serves reads and writes, and a write never changes them.
std::vector<MutablePart> as_mutable(std::span<const ConstPart> parts);

}  // namespace core
}  // namespace plait
