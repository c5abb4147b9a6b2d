#include "store/objects/bucket/pending_puts.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "store/http/settings.hpp"

namespace plait::store::bucket {

namespace {

constexpr std::size_t kMaxPutBytes = std::size_t{256} << 20;

}  // namespace

PendingPuts::~PendingPuts() {
  while (!puts_.empty()) wait_for_one([](const PendingPut&) {});
}

void PendingPuts::wait_for_one(Check check) {
  auto* const done = static_cast<PendingPut*>(&completions_.wait());
  const auto at = std::ranges::find(puts_, done, [](const PendingPut& one) { return &one; });
  std::list<PendingPut> ended;
  ended.splice(ended.begin(), puts_, at);
  bytes_ -= ended.front().bytes.size();
  std::vector<std::byte>& memory = ended.front().bytes;
  if (bytes_ + spare_bytes_ + memory.capacity() <= kMaxPutBytes) {
    spare_bytes_ += memory.capacity();
    spares_.push_back(std::move(memory));
  }
  check(ended.front());
}

bool PendingPuts::has(const std::string& object) {
  const std::scoped_lock lock(mutex_);
  return std::ranges::find(puts_, object, &PendingPut::object) != puts_.end();
}

std::vector<std::byte> PendingPuts::take_memory(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (spares_.empty()) return {};
  std::vector<std::byte> memory = std::move(spares_.back());
  spares_.pop_back();
  spare_bytes_ -= memory.capacity();
  // A much larger one would occupy more memory than submit() counts.
  return memory.capacity() <= 2 * bytes ? std::move(memory) : std::vector<std::byte>();
}

void PendingPuts::submit(PendingPut put, Check check) {
  const std::scoped_lock lock(mutex_);
  const std::size_t max_puts = max_puts_ > 0 ? max_puts_ : http::max_in_flight();
  while (puts_.size() >= max_puts || (!puts_.empty() && bytes_ + put.bytes.size() > kMaxPutBytes)) wait_for_one(check);
  puts_.push_back(std::move(put));
  PendingPut& added = puts_.back();
  added.request.body = added.bytes;
  bytes_ += added.bytes.size();
  try {
    http::submit(added, completions_);
  } catch (...) {
    bytes_ -= added.bytes.size();
    puts_.pop_back();
    throw;
  }
}

void PendingPuts::finish(Check check) {
  const std::scoped_lock lock(mutex_);
  std::exception_ptr failure;
  while (!puts_.empty()) {
    try {
      wait_for_one(check);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  spares_.clear();
  spare_bytes_ = 0;
  if (failure) std::rethrow_exception(failure);
}

}  // namespace plait::store::bucket
