#include "mpiio/lists/run_builders.hpp"

#include <stdexcept>
#include <utility>

namespace plait::mpiio {

namespace {

constexpr std::int64_t kMaxOffset = std::int64_t{1} << 62;

[[noreturn]] void throw_overflow() { throw std::overflow_error("an offset is past 2^62 bytes"); }

}  // namespace

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum >= kMaxOffset || sum <= -kMaxOffset) throw_overflow();
  return sum;
}

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product >= kMaxOffset || product <= -kMaxOffset) throw_overflow();
  return product;
}

ListBuilder::ListBuilder(std::size_t capacity) {
  node_.offsets.reserve(capacity);
  node_.positions.reserve(capacity + 1);
  node_.positions.push_back(0);
}

void ListBuilder::add(std::int64_t offset, std::int64_t bytes) {
  if (bytes == 0) return;
  node_.bytes = checked_sum(node_.bytes, bytes);
  const bool is_first = node_.offsets.empty();
  if (is_first) node_.begin = offset;
  if (!is_first && offset == node_.end) {
    node_.positions.back() = node_.bytes;
  } else {
    node_.is_ascending = node_.is_ascending && (is_first || offset > node_.end);
    node_.offsets.push_back(offset);
    node_.positions.push_back(node_.bytes);
  }
  node_.end = checked_sum(offset, bytes);
}

void ListBuilder::add(std::int64_t offset, const RunNode& list) {
  for (std::size_t i = 0; i < list.offsets.size(); ++i)
    add(checked_sum(offset, list.offsets[i]), list.positions[i + 1] - list.positions[i]);
}

Runs ListBuilder::finish() {
  node_.runs = std::ssize(node_.offsets);
  return std::make_shared<const RunNode>(std::move(node_));
}

void GroupBuilder::add(std::int64_t offset, const Runs& child) {
  if (!child) is_known_ = false;
  if (!child || child->bytes == 0) return;
  is_list_ = is_list_ && child->kind == RunNode::Kind::kList;
  const std::int64_t begin = checked_sum(offset, child->begin);
  node_.is_ascending = node_.is_ascending && child->is_ascending && (node_.children.empty() || begin >= node_.end);
  if (node_.children.empty()) node_.begin = begin;
  node_.offsets.push_back(offset);
  node_.positions.push_back(node_.bytes);
  node_.children.push_back(child);
  node_.bytes = checked_sum(node_.bytes, child->bytes);
  node_.runs = checked_sum(node_.runs, child->runs);
  node_.end = checked_sum(offset, child->end);
}

Runs GroupBuilder::finish() {
  constexpr std::int64_t kMaxLonger = 16;  // how many times longer than the group its list may be
  if (!is_known_) return nullptr;
  if (node_.children.empty()) return make_run(0);
  if (node_.children.size() == 1 && node_.offsets.front() == 0) return node_.children.front();
  if (is_list_ && node_.runs <= kMaxLonger * std::ssize(node_.children)) return join_lists();
  node_.kind = RunNode::Kind::kGroup;
  node_.positions.push_back(node_.bytes);
  return std::make_shared<const RunNode>(std::move(node_));
}

Runs GroupBuilder::join_lists() const {
  ListBuilder list(static_cast<std::size_t>(node_.runs));
  for (std::size_t i = 0; i < node_.children.size(); ++i) list.add(node_.offsets[i], *node_.children[i]);
  return list.finish();
}

Runs make_run(std::int64_t bytes) {
  ListBuilder list(1);
  list.add(0, bytes);
  return list.finish();
}

bool is_one_run(const RunNode& node) { return node.kind == RunNode::Kind::kList && node.runs == 1; }

Runs repeat_checked(const Runs& runs, std::int64_t count, std::int64_t stride) {
  if (!runs || count < 0) return nullptr;
  if (count == 0 || runs->bytes == 0) return make_run(0);
  if (count == 1) return runs;
  if (is_one_run(*runs) && stride == runs->bytes) {
    ListBuilder list(1);
    list.add(runs->begin, checked_product(runs->bytes, count));
    return list.finish();
  }
  RunNode node;
  node.kind = RunNode::Kind::kRepeat;
  node.count = count;
  node.stride = stride;
  node.children = {runs};
  if (runs->kind == RunNode::Kind::kRepeat && stride == checked_product(runs->count, runs->stride)) {
    node.count = checked_product(count, runs->count);
    node.stride = runs->stride;
    node.children = runs->children;
  }
  const RunNode& child = *node.children.front();
  const std::int64_t last = checked_product(node.count - 1, node.stride);
  node.bytes = checked_product(child.bytes, node.count);
  node.runs = checked_product(child.runs, node.count);
  node.begin = child.begin;
  node.end = checked_sum(child.end, last);
  checked_sum(child.begin, last);  // only for its check: with a negative stride the last repetition begins first
  node.is_ascending = child.is_ascending && child.begin + node.stride >= child.end;
  return std::make_shared<const RunNode>(std::move(node));
}

Runs shift_runs(const Runs& runs, std::int64_t offset) {
  GroupBuilder group;
  group.add(offset, runs);
  return group.finish();
}

}  // namespace plait::mpiio
