/// The processes of a writer that a process of a reader takes elements from.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "copy/local_array.hpp"
#include "pipe/slot_memory.hpp"
#include "pipe/step_description.hpp"
#include "pipe/writer/step_store.hpp"
#include "transport/native/link.hpp"

namespace plait::pipe {

/// One process of the writer.
class Partner {
 public:
  explicit Partner(std::unique_ptr<transport::native::Link> link) : link_(std::move(link)) {}

  /// True if its memory can be mapped.
  bool near() const { return link_->near(); }
  /// The memory of a slot that holds a step of `bytes` bytes.  errors  kSystem: it is not available.
  const std::byte* slot(int number, std::int64_t step, std::int64_t bytes);
  /// Checks, after a step was read, that the slot still held it.  errors  kSystem, ESTALE: it did not.
  void check(int number, std::int64_t step);
  /// Requests elements.
  void ask(const ElementRequest& wanted);
  /// Receives requested elements, in the order of the requests.  `body` gets each piece as it arrives, with its offset
  /// in the answer, and owns the piece.
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
  /// Receives one frame of at most `most` bytes of data.
  std::int64_t receive(std::vector<std::byte>& stage, std::int64_t most);

  std::unique_ptr<transport::native::Link> link_;
  std::map<int, SlotMemory> slots_;
};

/// The processes of the writer that this process has used.
/// threads  One at a time.
class Partners {
 public:
  /// processes: number of processes of the writer.
  Partners(std::string shown, transport::native::Endpoints first, const transport::native::Key& key,
           std::int64_t processes)
      : shown_(std::move(shown)), first_(std::move(first)), key_(key), processes_(processes) {}

  std::int64_t processes() const { return processes_; }
  /// The process that holds a rank of the writer's layouts.
  std::int64_t process_for(std::int64_t rank) const { return processes_ == 1 ? 0 : rank; }
  /// The placement of a step in a process of the writer.
  Placement placement(std::int64_t process) const { return Placement(processes_ == 1 ? -1 : process); }
  /// Returns a process, and connects to it at the first use.  errors  kSystem: it cannot be reached; names it.
  Partner& partner(std::int64_t process);
  /// True if its memory can be mapped, as far as is known without a connection.  errors  As partner().
  bool near(std::int64_t process);
  /// Closes the connection to it, because outstanding answers will not be received.
  void leave(std::int64_t process) noexcept { partners_.erase(process); }
  std::size_t connected() const { return partners_.size(); }

 private:
  /// Its endpoints, requested once for its whole group.
  const std::string& find(std::int64_t process);
  std::vector<std::string> ask_for(const std::string& endpoints, std::int64_t process, std::int64_t what) const;
  std::unique_ptr<transport::native::Link> connect(const transport::native::Endpoints& to, std::int64_t process) const;

  std::string shown_;
  transport::native::Endpoints first_;  // of process 0
  transport::native::Key key_;
  std::int64_t processes_;
  std::vector<std::string> leaders_;  // the first process of each group; empty: not requested yet
  std::map<std::int64_t, std::vector<std::string>> groups_;  // those that were requested
  std::map<std::int64_t, std::unique_ptr<Partner>> partners_;
};

/// Receives the next frame.  errors  kSystem, as Link; the error that the peer sent.  until: as Link.
transport::native::FrameHead receive_frame(transport::native::Link& link, std::string& body,
                                           transport::native::Clock::time_point until);

/// A deadline for waits that end with the connection only.
transport::native::Clock::time_point no_limit();

}  // namespace plait::pipe
