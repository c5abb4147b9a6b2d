// The file system between the nodes and the device: the page cache of each node, its link, and the device.
//
// Problem: write() returns as soon as the data is in the node's memory, and the device writes it later. The times of
// ranks therefore depend on when a node flushes and on when it blocks its writers.
//
// Idea: each node counts `held`, the bytes in memory that are not yet on their way to the device, and `dirty`, the
// bytes that the device has not written. put() sends the oldest stretches while held > dirty_start. reserve_memory()
// suspends a writer if dirty + bytes > dirty_limit, and the end of a device request resumes the writers in their order.
//
// Example: dirty_start = 1 MiB, dirty_limit = 4 MiB, requests of 1 MiB. After the first write held = 1 MiB, which may
// stay. The second one makes held = 2 MiB, so that the first stretch is sent. If the device has finished none of
// them, the fifth writer finds dirty = 4 MiB: it sends everything that is held and waits until the device has
// finished a request.

#include "simulation/access/files.hpp"

#include <algorithm>
#include <utility>

namespace plait::simulation {

namespace {

std::size_t at(std::int64_t node) { return static_cast<std::size_t>(node); }

}  // namespace

Files::Files(Resumer& resumer, Network& network, const FileSettings& settings, std::int64_t file_end)
    : resumer_(resumer),
      network_(network),
      settings_(settings),
      device_(make_device(settings.device,
                          {resumer.clock(), *this, settings.device.kind, std::max<std::int64_t>(file_end, 1)})),
      nodes_(at(network.nodes())) {}

std::uint64_t Files::allocate_tag(const RequestInProgress& request) {
  if (free_.empty()) {
    free_.push_back(under_way_.size());
    under_way_.emplace_back();
  }
  const std::uint64_t tag = free_.back();
  free_.pop_back();
  under_way_[tag] = request;
  return tag;
}

void Files::done(std::uint64_t tag) {
  const RequestInProgress request = std::exchange(under_way_[tag], {});
  free_.push_back(tag);
  last_ = resumer_.now();
  // Resumes through the clock and not from here, because the device may have more to do at this time.
  if (request.waiting) return resumer_.at(resumer_.now(), request.waiting);
  Node& node = nodes_[at(request.node)];
  node.dirty -= request.stretch.bytes;
  while (!node.writers.empty() && fits(node, node.writers.front().bytes)) {
    node.dirty += node.writers.front().bytes;
    resumer_.at(resumer_.now(), node.writers.front().handle);
    node.writers.pop_front();
  }
}

Task Files::read(std::int64_t node, std::int64_t offset, std::int64_t bytes) {
  co_await Suspend{begin(node, {offset, bytes}, false)};
  co_await resumer_.until(network_.from_files(node, bytes, resumer_.now()));
}

Task Files::write_through(std::int64_t node, std::int64_t offset, std::int64_t bytes) {
  co_await resumer_.until(network_.to_files(node, bytes, resumer_.now()));
  co_await Suspend{begin(node, {offset, bytes}, true)};
}

/// Begins a request of the device. Returns a reference to the coroutine that waits for it.
std::coroutine_handle<>& Files::begin(std::int64_t node, Stretch stretch, bool write) {
  const std::uint64_t tag = allocate_tag({nullptr, node, stretch});
  device_->submit({stretch.offset, stretch.bytes, write, tag});
  return under_way_[tag].waiting;
}

bool Files::fits(const Node& node, std::int64_t bytes) const {
  return node.dirty == 0 || node.dirty + bytes <= settings_.dirty_limit;
}

Task Files::reserve_memory(std::int64_t node, std::int64_t bytes) {
  Node& state = nodes_[at(node)];
  if (state.writers.empty() && fits(state, bytes)) {
    state.dirty += bytes;
    co_return;
  }
  send_above(node, 0);
  state.writers.push_back({nullptr, bytes});
  co_await Suspend{state.writers.back().handle};
}

void Files::put(std::int64_t node, std::int64_t offset, std::int64_t bytes) {
  Node& state = nodes_[at(node)];
  state.written.push_back({offset, bytes});
  state.held += bytes;
  send_above(node, state.writers.empty() ? settings_.dirty_start : 0);
}

void Files::send_above(std::int64_t node, std::int64_t limit) {
  Node& state = nodes_[at(node)];
  while (!state.written.empty() && state.held > limit) {
    const Stretch stretch = state.written.front();
    state.written.pop_front();
    state.held -= stretch.bytes;
    submit(node, stretch);
  }
}

void Files::submit(std::int64_t node, Stretch stretch) {
  const std::uint64_t tag = allocate_tag({nullptr, node, stretch});
  resumer_.clock().at(network_.to_files(node, stretch.bytes, resumer_.now()), *this, tag);
}

/// Submits a write to the device when its bytes have crossed the link.
void Files::fire(std::uint64_t tag) {
  const Stretch& stretch = under_way_[tag].stretch;
  device_->submit({stretch.offset, stretch.bytes, true, tag});
}

void Files::flush() {
  for (std::int64_t node = 0; node < network_.nodes(); ++node) send_above(node, 0);
}

Task Files::turn(std::int64_t node) {
  Node& state = nodes_[at(node)];
  if (!settings_.turns) co_return;
  if (!std::exchange(state.busy, true)) co_return;
  state.turns.emplace_back();
  co_await Suspend{state.turns.back()};
}

void Files::end_turn(std::int64_t node) {
  Node& state = nodes_[at(node)];
  if (state.turns.empty()) {
    state.busy = false;
    return;
  }
  resumer_.at(resumer_.now(), state.turns.front());
  state.turns.pop_front();
}

std::vector<DeviceUse> Files::uses() const {
  std::vector<DeviceUse> all;
  device_->report_parts(all);
  return all;
}

}  // namespace plait::simulation
