// Answers frames of readers. Each process of the writer answers requests for memory and elements; process 0 passes all
// other frames to its WriterControl.

#include "pipe/writer/service.hpp"

#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "pipe/protocol.hpp"
#include "plait/error.hpp"

namespace plait::pipe {

using transport::native::FrameHead;
using transport::native::Peer;

namespace {

void send(Peer& peer, Frame kind, std::uint64_t tag, std::span<const std::byte> body, int descriptor = -1) {
  peer.send({static_cast<std::uint32_t>(kind), 0, tag, body.size()}, body, descriptor);
}

}  // namespace

void WriterService::set_directory(std::vector<std::string> group, std::vector<std::string> groups) {
  group_ = std::move(group);
  groups_ = std::move(groups);
}

void WriterService::serve(const std::shared_ptr<Peer>& peer, const FrameHead& head, std::span<const std::byte> body) {
  switch (static_cast<Frame>(head.kind)) {
    case Frame::kFindEndpoints: {
      const bool wants_leaders = base::decode<std::int64_t>(body, kOtherEnd) == kLeaders;
      const std::string endpoints = base::encode(wants_leaders ? groups_ : group_);
      return send(*peer, Frame::kEndpoints, head.tag, std::as_bytes(std::span(endpoints)));
    }
    case Frame::kMap: {
      const int descriptor = steps_->descriptor(base::decode<int>(body, kOtherEnd));
      if (descriptor < 0 || !peer->is_local())
        base::throw_system_error(EPROTO, "the reader asked for shared memory that the writer does not have");
      return send(*peer, Frame::kSlot, head.tag, {}, descriptor);
    }
    case Frame::kGet: {
      auto message =
          std::make_shared<const StepStore::Message>(steps_->find(base::decode<ElementRequest>(body, kOtherEnd)));
      const auto bytes = static_cast<std::uint64_t>(message->bytes());
      return peer->stream(
          {static_cast<std::uint32_t>(Frame::kData), 0, head.tag, 0}, bytes,
          [message, steps = steps_](std::uint64_t offset, std::span<std::byte> into) {
            try {
              return steps->pack(*message, static_cast<std::int64_t>(offset), into);
            } catch (...) {
              return false;
            }
          },
          nullptr);
    }
    default: break;  // for control_
  }
  if (!control_) base::throw_system_error(EPROTO, "a frame that this process of a pipe does not know");
  control_->received(peer, head, body);
}

void WriterService::append_part(std::uint64_t peer, std::span<const std::byte> part) {
  std::string& request = parts_[peer];
  if (request.size() + part.size() > kMaxRequest) base::throw_system_error(EPROTO, "a request is too long");
  request.append(reinterpret_cast<const char*>(part.data()), part.size());
}

void WriterService::received(const std::shared_ptr<Peer>& peer, const FrameHead& head,
                             std::span<const std::byte> body) {
  try {
    if (head.kind == static_cast<std::uint32_t>(Frame::kPart)) return append_part(peer->number(), body);
    const auto parts = parts_.extract(peer->number());
    if (parts.empty()) return serve(peer, head, body);
    parts.mapped().append(reinterpret_cast<const char*>(body.data()), body.size());
    serve(peer, head, std::as_bytes(std::span(parts.mapped())));
  } catch (const Error& error) {
    try {
      const std::string answer = base::encode(Refusal{error.system_code(), error.what()});
      send(*peer, Frame::kRefused, head.tag, std::as_bytes(std::span(answer)));
      if (error.system_code() == EPROTO) peer->close();
    } catch (...) {
      peer->close();
    }
  } catch (...) {
    peer->close();
  }
}

void WriterService::closed(const std::shared_ptr<Peer>& peer, const std::string& why) {
  parts_.erase(peer->number());
  if (!control_) return;
  try {
    control_->closed(peer, why);
  } catch (...) {  // without memory the reader stays in the list, and sends to it do nothing
  }
}

}  // namespace plait::pipe
