// The file system between the nodes and the device: the page cache of each node, its link, and the device.
//
// Problem: write() returns as soon as the data is in the node's memory, and the device writes it later. The times of
// ranks therefore depend on when a node flushes and on when it blocks its writers.
//
// Idea: each node counts `unsent`, the bytes in memory that are not yet on their way to the device, and `dirty`, the
// bytes in memory that the device has not written, sent or not. add_written() sends the oldest stretches while unsent >
// dirty_start. reserve_memory() suspends a writer if dirty + bytes > dirty_limit, and the end of a device request
// resumes the writers in their order.
//
// Example: dirty_start = 1 MiB, dirty_limit = 4 MiB, requests of 1 MiB. After the first write unsent = 1 MiB, which may
// stay. The second write makes unsent = 2 MiB, so add_written() sends the first stretch. If the device has finished no
// request, the fifth writer finds dirty = 4 MiB: it sends everything that is unsent and waits until the device has
// finished a request.

#include "simulation/access/files.hpp"

#include <algorithm>
#include <utility>

namespace plait::simulation {

namespace {

std::size_t index(std::int64_t node) { return static_cast<std::size_t>(node); }

}  // namespace

Files::Files(Resumer& resumer, Network& network, const FileSettings& settings, std::int64_t file_end)
    : resumer_(resumer),
      network_(network),
      settings_(settings),
      device_(make_device(settings.device,
                          {resumer.clock(), *this, settings.device.kind, std::max<std::int64_t>(file_end, 1)})),
      nodes_(index(network.nodes())) {}

std::uint64_t Files::allocate_tag(const RequestInProgress& request) {
  if (free_tags_.empty()) {
    free_tags_.push_back(requests_.size());
    requests_.emplace_back();
  }
  const std::uint64_t tag = free_tags_.back();
  free_tags_.pop_back();
  requests_[tag] = request;
  return tag;
}

void Files::done(std::uint64_t tag) {
  const RequestInProgress request = std::exchange(requests_[tag], {});
  free_tags_.push_back(tag);
  last_completion_ = resumer_.now();
  // Resumes through the clock and not from here, because the device may have more to do at this time.
  if (request.waiting) return resumer_.resume_at(resumer_.now(), request.waiting);
  Node& node = nodes_[index(request.node)];
  node.dirty -= request.stretch.bytes;
  while (!node.writers.empty() && fits(node, node.writers.front().bytes)) {
    node.dirty += node.writers.front().bytes;
    resumer_.resume_at(resumer_.now(), node.writers.front().handle);
    node.writers.pop_front();
  }
}

Task Files::read(std::int64_t node, std::int64_t offset, std::int64_t bytes) {
  co_await Suspend{begin_request(node, {offset, bytes}, /*write=*/false)};
  co_await resumer_.until(network_.transfer_from_files(node, bytes, resumer_.now()));
}

Task Files::write_through(std::int64_t node, std::int64_t offset, std::int64_t bytes) {
  co_await resumer_.until(network_.transfer_to_files(node, bytes, resumer_.now()));
  co_await Suspend{begin_request(node, {offset, bytes}, /*write=*/true)};
}

/// Submits a request to the device. Returns a reference to the handle in which the coroutine that waits for the request
/// must be stored.
std::coroutine_handle<>& Files::begin_request(std::int64_t node, Stretch stretch, bool write) {
  const std::uint64_t tag = allocate_tag({nullptr, node, stretch});
  device_->submit({stretch.offset, stretch.bytes, write, tag});
  return requests_[tag].waiting;
}

bool Files::fits(const Node& node, std::int64_t bytes) const {
  return node.dirty == 0 || node.dirty + bytes <= settings_.dirty_limit;
}

Task Files::reserve_memory(std::int64_t node, std::int64_t bytes) {
  Node& state = nodes_[index(node)];
  if (state.writers.empty() && fits(state, bytes)) {
    state.dirty += bytes;
    co_return;
  }
  send_down_to(node, 0);
  state.writers.push_back({nullptr, bytes});
  co_await Suspend{state.writers.back().handle};
}

void Files::add_written(std::int64_t node, std::int64_t offset, std::int64_t bytes) {
  Node& state = nodes_[index(node)];
  state.written.push_back({offset, bytes});
  state.unsent += bytes;
  send_down_to(node, state.writers.empty() ? settings_.dirty_start : 0);
}

void Files::send_down_to(std::int64_t node, std::int64_t max_unsent) {
  Node& state = nodes_[index(node)];
  while (!state.written.empty() && state.unsent > max_unsent) {
    const Stretch stretch = state.written.front();
    state.written.pop_front();
    state.unsent -= stretch.bytes;
    submit(node, stretch);
  }
}

void Files::submit(std::int64_t node, Stretch stretch) {
  const std::uint64_t tag = allocate_tag({nullptr, node, stretch});
  resumer_.clock().schedule(network_.transfer_to_files(node, stretch.bytes, resumer_.now()), *this, tag);
}

/// Submits a write to the device: its bytes have crossed the link. submit() scheduled this event.
void Files::fire(std::uint64_t tag) {
  const Stretch& stretch = requests_[tag].stretch;
  device_->submit({stretch.offset, stretch.bytes, /*write=*/true, tag});
}

void Files::flush() {
  for (std::int64_t node = 0; node < network_.nodes(); ++node) send_down_to(node, 0);
}

Task Files::await_turn(std::int64_t node) {
  Node& state = nodes_[index(node)];
  if (!settings_.writers_take_turns) co_return;
  if (!std::exchange(state.busy, true)) co_return;
  state.turns.emplace_back();
  co_await Suspend{state.turns.back()};
}

void Files::end_turn(std::int64_t node) {
  Node& state = nodes_[index(node)];
  if (state.turns.empty()) {
    state.busy = false;
    return;
  }
  resumer_.resume_at(resumer_.now(), state.turns.front());
  state.turns.pop_front();
}

std::vector<DeviceUse> Files::device_uses() const {
  std::vector<DeviceUse> all;
  device_->report_parts(all);
  return all;
}

}  // namespace plait::simulation
