/// Answers the requests of readers at one process of the writer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipe/writer/control.hpp"
#include "pipe/writer/step_store.hpp"
#include "transport/native/server.hpp"

namespace plait::pipe {

/// The service that a writer's server calls for each frame and each closed connection.
/// threads  The server's thread, after set_directory().
class WriterService : public transport::native::Service {
 public:
  /// control: nullptr except in process 0.
  WriterService(std::shared_ptr<StepStore> steps, std::shared_ptr<WriterControl> control)
      : steps_(std::move(steps)), control_(std::move(control)) {}

  /// Sets what kFindEndpoints returns.  group: on the first process of a group, the endpoints of its processes in their
  /// order.  groups: on process 0, the endpoints of the first process of each group.  Call this before readers can find
  /// the server.
  void set_directory(std::vector<std::string> group, std::vector<std::string> groups);

  void opened(const std::shared_ptr<transport::native::Peer>& /*peer*/) override {}
  void received(const std::shared_ptr<transport::native::Peer>& peer, const transport::native::FrameHead& head,
                std::span<const std::byte> body) override;
  void closed(const std::shared_ptr<transport::native::Peer>& peer, const std::string& why) override;

 private:
  /// Answers a complete request.
  void serve(const std::shared_ptr<transport::native::Peer>& peer, const transport::native::FrameHead& head,
             std::span<const std::byte> body);
  /// Appends a kPart to the incomplete request of a connection.
  void append_part(std::uint64_t peer, std::span<const std::byte> part);

  std::shared_ptr<StepStore> steps_;
  std::shared_ptr<WriterControl> control_;
  std::vector<std::string> group_;              // see set_directory()
  std::vector<std::string> groups_;             // see set_directory()
  std::map<std::uint64_t, std::string> parts_;  // received parts of incomplete requests, by number of the connection
};

}  // namespace plait::pipe
