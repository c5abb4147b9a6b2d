#include "core/stream/open_streams.hpp"

#include <exception>

#include "collective/agree.hpp"
#include "core/stream/stream_impl.hpp"

namespace plait::core {

void OpenStreams::add(const std::shared_ptr<Stream::Impl>& stream) {
  std::erase_if(streams_, [](const auto& old) { return old.expired(); });
  streams_.push_back(stream);
}

void OpenStreams::wait_for_requests() {
  // Every stream is waited for, even if the wait for one is interrupted: the caller may release the store next.
  std::exception_ptr first;
  for (const auto& known : streams_)
    if (const auto stream = known.lock()) {
      const std::exception_ptr error = collective::caught([&] { stream->wait_for_requests(); });
      if (!first) first = error;
    }
  if (first) std::rethrow_exception(first);
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
