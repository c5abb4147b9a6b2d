// The order of accesses to the memory that a writer and a reader share. Either program may be at any point of these
// functions while the other one runs, so each field is atomic, except a description that its entry's number publishes.

#include "pipe/board.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "plait/error.hpp"

namespace plait::pipe {

namespace {

/// Offset of the board: SlotMemory uses the first page for its header.
constexpr std::int64_t kHeaderBytes = 4096;

}  // namespace

std::unique_ptr<Board> Board::create(std::int64_t first) try {
  std::unique_ptr<Board> board(new Board);
  board->memory_.grow(kHeaderBytes + static_cast<std::int64_t>(sizeof(SharedBoard)));
  auto* const shared = new (board->memory_.data() + kHeaderBytes) SharedBoard{};
  // Relaxed order suffices, because no other process has mapped the memory yet.
  for (Entry& entry : shared->entries) entry.step.store(-1, std::memory_order_relaxed);
  shared->reader.begun.store(first - 1, std::memory_order_relaxed);
  shared->reader.finished.store(first - 1, std::memory_order_relaxed);
  return board;
} catch (const Error&) {
  return nullptr;
}

std::unique_ptr<Board> Board::join(base::Descriptor descriptor) try {
  if (descriptor.number() < 0) return nullptr;
  std::unique_ptr<Board> board(new Board);
  board->memory_.map(std::move(descriptor), SlotMemory::Access::kWrite);
  if (board->memory_.bytes() < kHeaderBytes + static_cast<std::int64_t>(sizeof(SharedBoard))) return nullptr;
  board->shared().reader.joined.store(1);
  return board;
} catch (const Error&) {
  return nullptr;
}

Board::SharedBoard& Board::shared() const { return *reinterpret_cast<SharedBoard*>(memory_.data() + kHeaderBytes); }

Board::Entry& Board::entry(std::int64_t step) const {
  return shared().entries[static_cast<std::size_t>(step % kEntries)];
}

void Board::announce(std::int64_t step, std::string_view message) {
  // Entry step % kEntries still holds step - kEntries. Unless the reader has finished that step, it may be reading the
  // entry.
  if (message.size() > kMaxMessage || step - kEntries > shared().reader.finished.load()) return;
  Entry& target = entry(step);
  target.bytes = static_cast<std::int64_t>(message.size());
  std::memcpy(target.message.data(), message.data(), message.size());
  // Release, paired with the acquire in begin(): a reader that sees the number also sees the description.
  target.step.store(step, std::memory_order_release);
}

void Board::close() { shared().writer.closed.store(1); }

bool Board::is_joined() const { return shared().reader.joined.load() != 0; }

Board::Progress Board::progress() const {
  // Load `finished` first: the reader stores `begun` before `finished`, so the result never has a finished step that is
  // not begun.
  const std::int64_t finished = shared().reader.finished.load();
  return {shared().reader.begun.load(), finished};
}

void Board::request_notifications(bool on) { shared().writer.notify_writer.store(on ? 1 : 0); }

bool Board::begin(std::int64_t step, std::string& message) {
  if (shared().writer.closed.load() != 0) return false;
  const Entry& target = entry(step);
  if (target.step.load(std::memory_order_acquire) != step) return false;
  // Clamp the length: the other process can write anything into this memory.
  const auto bytes = static_cast<std::size_t>(std::clamp<std::int64_t>(target.bytes, 0, kMaxMessage));
  message.assign(target.message.data(), bytes);
  record_begun(step);
  return true;
}

void Board::record_begun(std::int64_t step) { shared().reader.begun.store(step); }

bool Board::finish(std::int64_t step) {
  // This end stores `finished` and then loads the request; the other end stores the request and then loads `finished`.
  // Sequential consistency ensures that one of the two loads sees the other end's store.
  shared().reader.finished.store(step);
  return shared().writer.notify_writer.load() != 0;
}

bool may_poll(std::int64_t processes) {
  cpu_set_t cores;
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) >= processes;
}

}  // namespace plait::pipe
