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
  begun_ = slot;
  Slot& here = slots_[static_cast<std::size_t>(slot)];
  here.memory.grow(Placement::kHead);
  // The step is announced when it is complete.  A reader that still reads the previous step notices the new number.
  here.memory.set_step(step);
  here.step = step;
  here.arrays.clear();
  here.placement.emplace(process_);
}

void StepStore::add(const Layout& layout, std::int64_t element_bytes, std::span<const copy::LocalArray> arrays) {
  Slot& slot = slots_[static_cast<std::size_t>(begun_)];
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

std::shared_ptr<const exchange::PackedMessage> StepStore::plan(const Layout& source, const ElementRequest& wanted,
                                                               std::int64_t element_bytes) {
  const std::scoped_lock lock(plans_mutex_);
  ElementRequest alike = wanted;  // equal in all that the plan depends on
  alike.step = alike.slot = 0;
  alike.variable = element_bytes;
  const std::string key = base::encode(alike, std::string_view(spelling(source)));
  const auto known = std::ranges::find_if(plans_, [&](const CachedPlan& one) { return one.key == key; });
  if (known != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, known);
    return plans_.front().packed;
  }
  const plan::RegionPairs pairs(source, Layout::parse(wanted.layout), wanted.region, wanted.fill_halo);
  if (!pairs.source().has_rank(wanted.sender) || !pairs.target().has_rank(wanted.receiver))
    base::throw_argument_error("the reader asked for a rank that the layout lacks");
  auto packed = std::make_shared<const exchange::PackedMessage>(pairs.products(wanted.sender, wanted.receiver),
                                                                pairs.target_order(), element_bytes);
  if (plans_.size() == kMaxPlans) plans_.pop_back();
  plans_.push_front({key, packed});
  return packed;
}

StepStore::StoredArray StepStore::find_array(const ElementRequest& wanted) const {
  const std::scoped_lock lock(mutex_);
  const bool there = wanted.slot >= 0 && static_cast<std::size_t>(wanted.slot) < slots_.size();
  const Slot* slot = there ? &slots_[static_cast<std::size_t>(wanted.slot)] : nullptr;
  if (slot == nullptr || slot->memory.data() == nullptr || slot->step != wanted.step ||
      slot->memory.step() != wanted.step)
    base::throw_system_error(ESTALE, "the writer no longer holds step ", wanted.step);
  if (wanted.variable < 0 || static_cast<std::size_t>(wanted.variable) >= slot->arrays.size())
    base::throw_argument_error("step ", wanted.step, " has no such array");
  const auto variable = static_cast<std::size_t>(wanted.variable);
  const auto& [layout, element_bytes] = slot->arrays[variable];
  if (!layout.has_rank(wanted.sender) || (process_ >= 0 && wanted.sender != process_))
    base::throw_argument_error("rank ", wanted.sender, " is not held here");
  const copy::LocalArray from = dense_array(
      layout, wanted.sender, slot->memory.data() + slot->placement->offset(variable, wanted.sender), element_bytes);
  return {layout, element_bytes, from};
}

StepStore::Message StepStore::find(const ElementRequest& wanted) {
  const StoredArray found = find_array(wanted);
  Message message;
  message.step_ = wanted.step;
  message.slot_ = wanted.slot;
  // Planning holds no lock; pack() checks that the step still exists.
  message.packed_ = plan(found.layout, wanted, found.element_bytes);
  message.element_bytes_ = found.element_bytes;
  message.from_ = found.from;
  return message;
}

std::int64_t StepStore::Message::bytes() const { return packed_->elements() * element_bytes_; }

bool StepStore::pack(const Message& message, std::int64_t offset, std::span<std::byte> into) {
  // The lock prevents the reuse of the slot, which may also move its memory.
  const std::scoped_lock lock(mutex_);
  if (slots_[static_cast<std::size_t>(message.slot_)].memory.step() != message.step_) return false;
  message.pack(offset, into);
  return true;
}

void StepStore::Message::pack(std::int64_t offset, std::span<std::byte> into) const {
  const auto bytes = static_cast<std::int64_t>(into.size());
  if (offset % element_bytes_ == 0 && bytes % element_bytes_ == 0) {
    packed_->pack(offset / element_bytes_, (offset + bytes) / element_bytes_, from_, into.data());
    return;
  }
  // Elements that are divided between two frames.
  const std::int64_t first = offset / element_bytes_;
  const std::int64_t last = (offset + bytes + element_bytes_ - 1) / element_bytes_;
  std::vector<std::byte> whole(static_cast<std::size_t>((last - first) * element_bytes_));
  packed_->pack(first, last, from_, whole.data());
  std::copy_n(whole.data() + (offset - first * element_bytes_), bytes, into.data());
}

}  // namespace plait::pipe
