#include <algorithm>
#include <array>
#include <span>

#include "access/access.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/worker.hpp"
#include "plait/redistribute.hpp"
#include "transport/shared_area.hpp"
#include "transport/thread/team.hpp"
#include "transport/transport.hpp"

namespace plait {

class SharedMemory::Impl {
 public:
  Impl(std::int64_t bytes, const Comm& comm) {
    const auto check = [&] {
      if (bytes < 0) base::throw_argument_error("found ", bytes, " bytes of shared memory; give 0 or more");
    };
    constexpr std::int64_t kMaxBytes = std::int64_t{1} << 54;  // no node has more, and sums over ranks do not overflow
    if (comm.alone()) check();
    const std::exception_ptr checked = collective::caught(check);
    bytes = std::min(bytes, kMaxBytes);
    if (comm.alone()) {
      part = transport::thread::make_alone()->share(bytes);
    } else {
      core::get_worker(comm)->run([&] {
        // The transport is used first, so that an error that another rank contributes is received.
        transport::Transport& transport = core::get_transport(comm);
        collective::together(transport, [&] {
          collective::Collective call(transport, "make arrays in shared memory", checked);
          call.run_phase([&] { part = transport.share(bytes); });
        });
      });
    }
  }
  std::unique_ptr<transport::SharedPart> part;  // this rank's part of the memory that the ranks of the node share
};

SharedMemory::SharedMemory(std::int64_t bytes, const Comm& comm)
    : impl_(core::guarded(comm, [&] { return std::make_unique<Impl>(bytes, comm); })) {}
SharedMemory::~SharedMemory() = default;
SharedMemory::SharedMemory(SharedMemory&&) noexcept = default;
SharedMemory& SharedMemory::operator=(SharedMemory&&) noexcept = default;
std::byte* SharedMemory::data() const { return impl_->part->data(); }
std::int64_t SharedMemory::bytes() const { return impl_->part->bytes(); }

std::string broadcast_text(const std::string& call, const std::string& text, int root, const Comm& comm) {
  if (comm.alone()) return text;
  std::array<char, transport::Transport::kMaxBroadcast> buffer{};
  core::get_worker(comm)->run([&] {
    transport::Transport& transport = core::get_transport(comm);
    const collective::Collective call_of_all(transport, call, collective::caught([&] {
                                               if (text.size() >= buffer.size())
                                                 base::throw_argument_error("the text has ", text.size(),
                                                                            " bytes, but at most ", buffer.size() - 1,
                                                                            " can be sent to the other ranks");
                                               text.copy(buffer.data(), buffer.size() - 1);
                                             }));
    transport.broadcast(std::as_writable_bytes(std::span(buffer)), root);
  });
  return buffer.data();
}

}  // namespace plait
