/// What a process of the writer does for its readers.
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

class WriterService : public transport::native::Service {
 public:
  /// control: of the process of rank 0 only.
  WriterService(std::shared_ptr<StepStore> steps, std::shared_ptr<WriterControl> control)
      : steps_(std::move(steps)), control_(std::move(control)) {}

  /// Where processes may be reached: those of this process's group by their distance from it, and of the process of
  /// rank 0 the first ones of all groups.  Before anybody is told of the server.
  void set_directory(std::vector<std::string> group, std::vector<std::string> groups);

  void opened(const std::shared_ptr<transport::native::Peer>& /*peer*/) override {}
  void received(const std::shared_ptr<transport::native::Peer>& peer, const transport::native::FrameHead& head,
                std::span<const std::byte> body) override;
  void closed(const std::shared_ptr<transport::native::Peer>& peer, const std::string& why) override;

 private:
  void serve(const std::shared_ptr<transport::native::Peer>& peer, const transport::native::FrameHead& head,
             std::span<const std::byte> body);
  void take_part(std::uint64_t peer, std::span<const std::byte> part);

  std::shared_ptr<StepStore> steps_;
  std::shared_ptr<WriterControl> control_;
  std::vector<std::string> group_;
  std::vector<std::string> groups_;
  std::map<std::uint64_t, std::string> parts_;  // of requests that are not whole, by the number of their connection
};

}  // namespace plait::pipe
