// Finds runs in a tree.
//
// A position is found by division in nodes that repeat a child, and by binary search in lists and groups. The search by
// offset needs runs that ascend: the ends of children do then as well.
//
// Example: byte 25 of the data of three repetitions, at a distance of 100, of the runs 0 to 7 and 40 to 43 is in the
// third repetition, since each has 12 bytes. Byte 1 of that one is at offset 201, and 7 bytes of its run are left.

#include "mpiio/lists/run_cursor.hpp"

#include <utility>

namespace plait::mpiio {

namespace {

std::int64_t count_entries(const RunNode& node) {
  if (node.kind == RunNode::Kind::kRepeat) return node.count;
  return std::ssize(node.offsets);
}

/// Returns the last entry that begins at `position` or before it.
std::int64_t find_position(const RunNode& node, std::int64_t position) {
  const auto after = std::upper_bound(node.positions.begin(), node.positions.end() - 1, position);
  return std::distance(node.positions.begin(), after) - 1;
}

/// Returns the first run, repetition or child that ends after `offset`.
std::int64_t find_end_after(const RunNode& node, std::int64_t offset) {
  if (node.kind == RunNode::Kind::kRepeat) {
    const std::int64_t distance = offset - node.children.front()->end;
    return distance < 0 ? 0 : distance / node.stride + 1;
  }
  std::int64_t first = 0;
  std::int64_t last = std::ssize(node.offsets);
  while (first < last) {
    const std::int64_t middle = first + (last - first) / 2;
    const auto at = static_cast<std::size_t>(middle);
    const std::int64_t end =
        node.offsets[at] +
        (node.kind == RunNode::Kind::kList ? node.positions[at + 1] - node.positions[at] : node.children[at]->end);
    if (end > offset)
      last = middle;
    else
      first = middle + 1;
  }
  return first;
}

std::int64_t position_in(const RunNode& node, std::int64_t index) {
  if (node.kind == RunNode::Kind::kRepeat) return index * node.children.front()->bytes;
  return node.positions[static_cast<std::size_t>(index)];
}

std::int64_t offset_in(const RunNode& node, std::int64_t index) {
  if (node.kind == RunNode::Kind::kRepeat) return index * node.stride;
  return node.offsets[static_cast<std::size_t>(index)];
}

const RunNode& child_in(const RunNode& node, std::int64_t index) {
  return *node.children[node.kind == RunNode::Kind::kRepeat ? 0 : static_cast<std::size_t>(index)];
}

}  // namespace

RunCursor::RunCursor(Runs runs, std::int64_t base) : runs_(std::move(runs)), base_(base), end_(runs_->bytes) {
  seek(0);
}

void RunCursor::stop() {
  frames_.clear();
  position_ = runs_->bytes;
  left_ = 0;
}

void RunCursor::load() {
  const Frame& frame = frames_.back();
  const auto index = static_cast<std::size_t>(frame.index);
  offset_ = frame.base + frame.node->offsets[index];
  left_ = frame.node->positions[index + 1] - frame.node->positions[index];
}

void RunCursor::enter(const RunNode& node, std::int64_t base) {
  frames_.push_back({&node, 0, base});
  while (frames_.back().node->kind != RunNode::Kind::kList) enter_child();
  load();
}

void RunCursor::enter_child() {
  const Frame frame = frames_.back();
  frames_.push_back({&child_in(*frame.node, frame.index), 0, frame.base + offset_in(*frame.node, frame.index)});
}

void RunCursor::enter_next() {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (++frame.index < count_entries(*frame.node)) {
      while (frames_.back().node->kind != RunNode::Kind::kList) enter_child();
      load();
      return;
    }
    frames_.pop_back();
  }
  stop();
}

void RunCursor::seek(std::int64_t position) {
  frames_.clear();
  if (position >= runs_->bytes) {
    stop();
    return;
  }
  position_ = position;
  const RunNode* node = runs_.get();
  std::int64_t base = base_;
  std::int64_t rest = position;
  while (true) {
    const bool repeats = node->kind == RunNode::Kind::kRepeat;
    const std::int64_t index = repeats ? rest / node->children.front()->bytes : find_position(*node, rest);
    frames_.push_back({node, index, base});
    rest -= position_in(*node, index);
    if (node->kind == RunNode::Kind::kList) break;
    base += offset_in(*node, index);
    node = &child_in(*node, index);
  }
  load();
  offset_ += rest;
  left_ -= rest;
}

void RunCursor::seek_offset(std::int64_t offset) {
  frames_.clear();
  if (runs_->bytes == 0 || offset >= base_ + runs_->end) {
    stop();
    return;
  }
  const RunNode* node = runs_.get();
  std::int64_t base = base_;
  std::int64_t position = 0;
  while (true) {
    const std::int64_t index = find_end_after(*node, offset - base);
    frames_.push_back({node, index, base});
    position += position_in(*node, index);
    if (node->kind == RunNode::Kind::kList) break;
    base += offset_in(*node, index);
    node = &child_in(*node, index);
  }
  load();
  const std::int64_t before = std::max<std::int64_t>(0, offset - offset_);
  offset_ += before;
  left_ -= before;
  position_ = position + before;
}

}  // namespace plait::mpiio
