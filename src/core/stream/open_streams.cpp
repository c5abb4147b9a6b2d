#include "core/stream/open_streams.hpp"

#include "core/stream/stream_impl.hpp"

namespace plait::core {

void OpenStreams::add(const std::shared_ptr<Stream::Impl>& stream) {
  std::erase_if(streams_, [](const auto& old) { return old.expired(); });
  streams_.push_back(stream);
}

void OpenStreams::settle() {
  for (const auto& known : streams_)
    if (const auto stream = known.lock()) stream->settle();
}

void OpenStreams::release() {
  for (const auto& known : streams_)
    if (const auto stream = known.lock()) stream->release();
}

void OpenStreams::detach() {
  for (const auto& known : streams_)
    if (const auto stream = known.lock()) stream->detach();
}

}  // namespace plait::core
