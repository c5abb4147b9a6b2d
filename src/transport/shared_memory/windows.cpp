#include "transport/shared_memory/windows.hpp"

#include <atomic>
#include <utility>

namespace plait::transport::shared_memory {

namespace {
constexpr std::int64_t kPage = 4096;
}

Windows& ensure_windows(std::unique_ptr<Windows>& windows, Meeting& meeting, std::int64_t bytes) {
  if (!windows || windows->bytes() < bytes) {
    windows = nullptr;
    const std::int64_t rounded = (bytes + kPage - 1) / kPage * kPage;
    windows = std::make_unique<Windows>(meeting, rounded);
  }
  return *windows;
}

std::unique_ptr<Counter> make_counter(Meeting& meeting) {
  auto segment = std::make_shared<Segment>(meeting, kPage);
  auto& word = *reinterpret_cast<std::atomic<std::int64_t>*>(segment->data());
  return std::make_unique<MemoryCounter>(word, std::move(segment));
}

}  // namespace plait::transport::shared_memory
