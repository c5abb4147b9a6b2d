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
  buffers_.push_back(std::exchange(ended.front().bytes, {}));
  check(ended.front());
}

bool PendingPuts::has(const std::string& object) {
  const std::scoped_lock lock(mutex_);
  return std::ranges::find(puts_, object, &PendingPut::object) != puts_.end();
}

std::vector<std::byte> PendingPuts::take_buffer() {
  const std::scoped_lock lock(mutex_);
  if (buffers_.empty()) return {};
  std::vector<std::byte> buffer = std::move(buffers_.back());
  buffers_.pop_back();
  return buffer;
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
  buffers_.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace plait::store::bucket
