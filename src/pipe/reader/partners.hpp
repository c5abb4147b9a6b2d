/// The processes of a writer that a process of a reader takes elements from.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "copy/local_array.hpp"
#include "pipe/description.hpp"
#include "pipe/slot_memory.hpp"
#include "pipe/writer/step_store.hpp"
#include "transport/native/link.hpp"

namespace plait::pipe {

/// One process of the writer.
class Partner {
 public:
  explicit Partner(std::unique_ptr<transport::native::Link> link) : link_(std::move(link)) {}

  /// Whether its memory can be mapped.
  bool near() const { return link_->near(); }
  /// The memory of a slot, with a step in it that has so many bytes.  errors  kSystem: it is not there.
  const std::byte* slot(int number, std::int64_t step, std::int64_t bytes);
  /// Whether the step was there until now, once it has been read.  errors  kSystem, ESTALE: it was not.
  void check(int number, std::int64_t step);
  /// Asks for elements.
  void ask(const Wanted& wanted);
  /// Takes elements that were asked for, in the order in which they were.  `body` gets each piece as it comes: where it
  /// begins among the bytes of this answer; the piece is its own from then on.
  template <typename Body>
  void take(std::int64_t bytes, std::vector<std::byte>& stage, Body&& body) {
    for (std::int64_t done = 0; done < bytes;) {
      const std::int64_t now = receive(stage, bytes - done);
      body(done, std::span(stage).first(static_cast<std::size_t>(now)));
      done += now;
    }
  }
  bool gone() const { return link_->gone(); }

 private:
  /// One frame of data, of `most` bytes at most.
  std::int64_t receive(std::vector<std::byte>& stage, std::int64_t most);

  std::unique_ptr<transport::native::Link> link_;
  std::map<int, SlotMemory> slots_;
};

/// Those that this process has come to need.
/// threads  One at a time.
class Partners {
 public:
  /// processes: how many the writer has.
  Partners(std::string shown, transport::native::Endpoints first, const transport::native::Key& key,
           std::int64_t processes)
      : shown_(std::move(shown)), first_(std::move(first)), key_(key), processes_(processes) {}

  std::int64_t processes() const { return processes_; }
  /// Which of them holds a rank of its layouts.
  std::int64_t process_of(std::int64_t rank) const { return processes_ == 1 ? 0 : rank; }
  /// Where the parts of a step lie in a process of the writer.
  Placement placement(std::int64_t process) const { return Placement(processes_ == 1 ? -1 : process); }
  /// Connects to it at the first time.  errors  kSystem: it cannot be reached; names it.
  Partner& of(std::int64_t process);
  /// Whether its memory can be mapped, as far as is known without a connection to it.  errors  As of().
  bool near(std::int64_t process);
  /// Ends the connection to it: what has been asked for there will not be taken.
  void leave(std::int64_t process) noexcept { partners_.erase(process); }
  std::size_t connected() const { return partners_.size(); }

 private:
  /// Where it may be reached: asked once for all of its group.
  const std::string& find(std::int64_t process);
  std::vector<std::string> ask_for(const std::string& endpoints, std::int64_t process, std::int64_t what) const;
  std::unique_ptr<transport::native::Link> connect(const transport::native::Endpoints& to, std::int64_t process) const;

  std::string shown_;
  transport::native::Endpoints first_;  // of the process of rank 0
  transport::native::Key key_;
  std::int64_t processes_;
  std::vector<std::string> leaders_;                         // the first process of each group; empty: not asked for
  std::map<std::int64_t, std::vector<std::string>> groups_;  // those that have been asked for
  std::map<std::int64_t, std::unique_ptr<Partner>> partners_;
};

/// The next frame, or what its answer says went wrong.  errors  kSystem, as Link; the error that the other end tells.
/// until: as Link.
transport::native::FrameHead receive_frame(transport::native::Link& link, std::string& body,
                                           transport::native::Clock::time_point until);

/// For waits that end with the connection.
transport::native::Clock::time_point no_limit();

}  // namespace plait::pipe
