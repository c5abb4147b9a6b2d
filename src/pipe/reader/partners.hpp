/// Partners: the processes of a writer from which a process of a reader gets elements, and the connections to them.
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

  /// Returns true if the process is on this host, so that its memory can be mapped.
  bool is_on_this_host() const { return link_->is_local(); }
  /// Returns the memory of the slot that holds a step, and maps it at the first use.  bytes: the end of the step's
  /// arrays in the slot.
  /// errors  kSystem: the memory is not available; ESTALE: the slot holds another step.
  const std::byte* map_slot(int number, std::int64_t step, std::int64_t bytes);
  /// Checks that the slot still holds the step.  Call it after reading the slot.
  /// errors  kSystem, ESTALE: the slot holds another step.
  void check_slot(int number, std::int64_t step);
  /// Sends a request for elements.
  void request(const ElementRequest& elements);
  /// Receives the answer of the oldest request, of `bytes` bytes.  Calls body(offset, piece) for each frame as it
  /// arrives; `body` may change the piece.  stage: a buffer for one frame.
  template <typename Body>
  void receive_answer(std::int64_t bytes, std::vector<std::byte>& stage, Body&& body) {
    for (std::int64_t done = 0; done < bytes;) {
      const std::int64_t now = receive(stage, bytes - done);
      body(done, std::span(stage).first(static_cast<std::size_t>(now)));
      done += now;
    }
  }
  bool is_closed_by_peer() const { return link_->is_closed_by_peer(); }

 private:
  /// Receives one frame of at most `max_bytes` bytes of data, and returns its length.
  std::int64_t receive(std::vector<std::byte>& stage, std::int64_t max_bytes);

  std::unique_ptr<transport::native::Link> link_;
  std::map<int, SlotMemory> slots_;
};

/// The connections to processes of the writer, opened at their first use.
/// threads  One at a time.
class Partners {
 public:
  /// url: the URL for errors.  first_endpoints: those of process 0.  processes: number of processes of the writer.
  Partners(std::string url, transport::native::Endpoints first_endpoints, const transport::native::Key& key,
           std::int64_t processes)
      : url_(std::move(url)), first_endpoints_(std::move(first_endpoints)), key_(key), processes_(processes) {}

  std::int64_t processes() const { return processes_; }
  /// Returns the process that holds a rank of the writer's layouts: a single process holds all of them.
  std::int64_t process_for(std::int64_t rank) const { return processes_ == 1 ? 0 : rank; }
  /// Returns an empty placement for a step in a process of the writer.
  Placement placement(std::int64_t process) const { return Placement(processes_ == 1 ? -1 : process); }
  /// Returns a process, and connects to it at the first use.  errors  kSystem: it cannot be reached; names it.
  Partner& partner(std::int64_t process);
  /// Returns true if the process is on this host, without connecting to it.  errors  As partner().
  bool is_on_this_host(std::int64_t process);
  /// Closes the connection to a process, because outstanding answers will not be received.
  void disconnect(std::int64_t process) noexcept { partners_.erase(process); }
  std::size_t connected() const { return partners_.size(); }

 private:
  /// Returns the endpoints of a process.  The first call for a process requests those of its whole group.
  const std::string& find_endpoints(std::int64_t process);
  /// Requests endpoints from process number `process`, which has the given endpoints.  scope: kLeaders or kOwnGroup.
  std::vector<std::string> request_endpoints(const std::string& endpoints, std::int64_t process,
                                             std::int64_t scope) const;
  std::unique_ptr<transport::native::Link> connect(const transport::native::Endpoints& to, std::int64_t process) const;

  std::string url_;
  transport::native::Endpoints first_endpoints_;  // of process 0
  transport::native::Key key_;
  std::int64_t processes_;
  std::vector<std::string> leaders_;  // endpoints of the first process of each group; empty: not requested yet
  // The endpoints of processes by the number of their group, as far as they were requested.
  std::map<std::int64_t, std::vector<std::string>> groups_;
  std::map<std::int64_t, std::unique_ptr<Partner>> partners_;
};

/// Receives the next frame with its body.  until: as Link.
/// errors  kSystem, as Link; the error that the peer sent as kRefused.
transport::native::FrameHead receive_frame(transport::native::Link& link, std::string& body,
                                           transport::native::Clock::time_point until);

/// Returns a deadline in the far future, for waits that end when the connection ends.
transport::native::Clock::time_point no_limit();

}  // namespace plait::pipe
