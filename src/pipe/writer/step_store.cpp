// Stores the steps of a writer's process in slots, and packs elements for readers on other hosts. A packing is planned
// once for each pair of layouts and ranks, and cached, because every step usually has the same layouts.

#include "pipe/writer/step_store.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "copy/strided_copy.hpp"
#include "plan/conversion/partners.hpp"
#include "plan/section/region_pairs.hpp"

namespace plait::pipe {

copy::LocalArray dense_array(const Layout& layout, std::int64_t rank, std::byte* data, std::int64_t element_bytes) {
  const Extents strides = plan::dense_strides(layout.padded_shape(rank), layout.order());
  return {rank, data, plan::in_bytes(strides, element_bytes)};
}

StepStore::StepStore(int slots, std::int64_t process) : process_(process), slots_(static_cast<std::size_t>(slots)) {}

void StepStore::begin(std::int64_t step, int slot) {
  const std::scoped_lock lock(mutex_);
  begun_slot_ = slot;
  Slot& target = slots_[static_cast<std::size_t>(slot)];
  target.memory.grow(Placement::kHeaderBytes);
  // Set the number before the first write. Readers of this step get it only after publish(); a dropped reader that
  // still reads the previous step in this slot notices the new number.
  target.memory.set_step(step);
  target.step = step;
  target.arrays.clear();
  target.placement.emplace(process_);
}

void StepStore::add(const Layout& layout, std::int64_t element_bytes, std::span<const copy::LocalArray> arrays) {
  Slot& slot = slots_[static_cast<std::size_t>(begun_slot_)];
  const std::size_t variable = slot.arrays.size();
  {
    const std::scoped_lock lock(mutex_);
    slot.arrays.emplace_back(layout, element_bytes);
    slot.placement->add(layout, element_bytes);
    slot.memory.grow(slot.placement->end());
  }
  for (const copy::LocalArray& from : arrays) {
    if (layout.local_elements(from.rank) == 0) continue;
    const copy::LocalArray to =
        dense_array(layout, from.rank, slot.memory.data() + slot.placement->offset(variable, from.rank), element_bytes);
    const Extents shape = layout.padded_shape(from.rank);
    std::vector<copy::Loop> loops;
    for (std::size_t d = 0; d < shape.size(); ++d) loops.push_back({shape[d], from.strides[d], to.strides[d]});
    copy::strided_copy(to.data, from.data, element_bytes, loops);
  }
}

int StepStore::descriptor(int slot) const {
  const std::scoped_lock lock(mutex_);
  if (slot < 0 || static_cast<std::size_t>(slot) >= slots_.size()) return -1;
  return slots_[static_cast<std::size_t>(slot)].memory.descriptor();
}

std::shared_ptr<const exchange::PackedMessage> StepStore::plan(const Layout& source, const ElementRequest& request,
                                                               std::int64_t element_bytes) {
  const std::scoped_lock lock(plans_mutex_);
  // The key is equal for all requests with the same plan: it has no step and slot, and the element size instead of the
  // variable.
  ElementRequest plan_request = request;
  plan_request.step = plan_request.slot = 0;
  plan_request.variable = element_bytes;
  const std::string key = base::encode(plan_request, std::string_view(spelling(source)));
  const auto cached = std::ranges::find_if(plans_, [&](const CachedPlan& candidate) { return candidate.key == key; });
  if (cached != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, cached);
    return plans_.front().packed;
  }
  const plan::RegionPairs pairs(source, Layout::parse(request.layout), request.region, request.fill_halo);
  if (!pairs.source().has_rank(request.sender) || !pairs.target().has_rank(request.receiver))
    base::throw_argument_error("the reader asked for a rank that the layout lacks");
  auto packed = std::make_shared<const exchange::PackedMessage>(pairs.products(request.sender, request.receiver),
                                                                pairs.target_order(), element_bytes);
  if (plans_.size() == kMaxPlans) plans_.pop_back();
  plans_.push_front({key, packed});
  return packed;
}

StepStore::StoredArray StepStore::find_array(const ElementRequest& request) const {
  const std::scoped_lock lock(mutex_);
  const bool has_slot = request.slot >= 0 && static_cast<std::size_t>(request.slot) < slots_.size();
  const Slot* slot = has_slot ? &slots_[static_cast<std::size_t>(request.slot)] : nullptr;
  if (slot == nullptr || slot->memory.data() == nullptr || slot->step != request.step ||
      slot->memory.step() != request.step)
    base::throw_system_error(ESTALE, "the writer no longer holds step ", request.step);
  if (request.variable < 0 || static_cast<std::size_t>(request.variable) >= slot->arrays.size())
    base::throw_argument_error("step ", request.step, " has no such array");
  const auto variable = static_cast<std::size_t>(request.variable);
  const auto& [layout, element_bytes] = slot->arrays[variable];
  if (!layout.has_rank(request.sender) || (process_ >= 0 && request.sender != process_))
    base::throw_argument_error("rank ", request.sender, " is not held here");
  const copy::LocalArray from = dense_array(
      layout, request.sender, slot->memory.data() + slot->placement->offset(variable, request.sender), element_bytes);
  return {layout, element_bytes, from};
}

StepStore::Message StepStore::find(const ElementRequest& request) {
  const StoredArray found = find_array(request);
  Message message;
  message.step_ = request.step;
  message.slot_ = request.slot;
  // Plan without holding mutex_, because this may be slow; pack() checks that the slot still has the step.
  message.packed_ = plan(found.layout, request, found.element_bytes);
  message.element_bytes_ = found.element_bytes;
  message.source_ = found.from;
  return message;
}

std::int64_t StepStore::Message::bytes() const { return packed_->elements() * element_bytes_; }

bool StepStore::pack(const Message& message, std::int64_t offset, std::span<std::byte> into) {
  // The lock prevents that begin() reuses the slot meanwhile, or that the slot grows, which may move its memory.
  const std::scoped_lock lock(mutex_);
  if (slots_[static_cast<std::size_t>(message.slot_)].memory.step() != message.step_) return false;
  message.pack(offset, into);
  return true;
}

void StepStore::Message::pack(std::int64_t offset, std::span<std::byte> into) const {
  const auto bytes = static_cast<std::int64_t>(into.size());
  if (offset % element_bytes_ == 0 && bytes % element_bytes_ == 0) {
    packed_->pack(offset / element_bytes_, (offset + bytes) / element_bytes_, source_, into.data());
    return;
  }
  // The frame begins or ends within an element: pack whole elements into a buffer, and copy the part in question.
  const std::int64_t first = offset / element_bytes_;
  const std::int64_t last = (offset + bytes + element_bytes_ - 1) / element_bytes_;
  std::vector<std::byte> elements(static_cast<std::size_t>((last - first) * element_bytes_));
  packed_->pack(first, last, source_, elements.data());
  std::copy_n(elements.data() + (offset - first * element_bytes_), bytes, into.data());
}

}  // namespace plait::pipe
