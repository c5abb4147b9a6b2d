// A fast device that caches a slow one.
//
// Reads are divided into stretches that are in the tier and stretches that are not; both kinds are read at the same
// time. Writes go to the tier, and a copy of them goes to the slow device in the background.
//
// Example: a tier of 1 GiB. `backlog_` counts bytes that are written to the tier but not yet to the slow device. A
// write of 1 MiB ends when the tier has it, as long as `backlog_` stays at or below 1 GiB. Above that the write also
// waits for its own copy, so that the program proceeds at the rate of the slow device.

#include "simulation/devices/tier.hpp"

#include <algorithm>

#include "base/errors.hpp"

namespace plait::simulation {

namespace {

Slot count_slots(const TierSpec& tier) {
  if (tier.block < 512 || tier.size < tier.block || tier.size / tier.block >= kNoSlot)
    base::throw_argument_error(
        "found a tier of ", tier.size, " bytes with blocks of ", tier.block,
        ", expected blocks of at least 512 bytes, and room for at least one and below 2^32 of them; "
        "correct size or block");
  return static_cast<Slot>(tier.size / tier.block);
}

std::unique_ptr<Policy> make_policy(const TierSpec& tier) {
  const NamedPolicy named(tier.policy);
  if (named.kind().foresight != Foresight::kNone)
    base::throw_argument_error("the policy ", tier.policy,
                               " has to know the whole future, which a replay does not; use another "
                               "policy for the tier");
  return named.make({count_slots(tier), tier.block, 1});
}

}  // namespace

TieredDevice::TieredDevice(const DeviceSite& site, const TierSpec& tier, const DeviceSpec& slow)
    : Device(site.clock, site.completion),
      block_(tier.block),
      capacity_(tier.size),
      policy_(make_policy(tier)),
      table_(std::min<std::size_t>(count_slots(tier), 1U << 16)),
      max_slots_(count_slots(tier)),
      fast_(make_device(tier.device, {site.clock, *this, "tier", site.span})),
      slow_(make_device(slow, {site.clock, *this, site.name, site.span})) {}

std::size_t TieredDevice::begin_request(std::uint64_t tag) {
  if (free_requests_.empty()) {
    free_requests_.push_back(split_requests_.size());
    split_requests_.emplace_back();
  }
  const std::size_t request_index = free_requests_.back();
  free_requests_.pop_back();
  split_requests_[request_index] = {.tag = tag};
  return request_index;
}

bool TieredDevice::use_block(std::int64_t block) {
  const Use use{{static_cast<std::uint64_t>(block), 0}, 0, kNever, 1};
  const Slot resident = table_.find(use.key);
  if (resident != kNoSlot) {
    policy_->hit(resident, use);
  } else {
    if ((free_.empty() && used_slots_ == max_slots_) || policy_->at_limit(use)) {
      const Slot victim = policy_->victim(use);
      table_.erase(keys_[victim]);
      free_.push_back(victim);
    }
    if (free_.empty()) free_.push_back(used_slots_++);
    const Slot slot = free_.back();
    free_.pop_back();
    keys_.find_or_create(slot) = use.key;
    table_.insert(use.key, slot);
    policy_->admit(slot, use);
  }
  for (Slot tossed_slot = policy_->tossed(); tossed_slot != kNoSlot; tossed_slot = policy_->tossed()) {
    table_.erase(keys_[tossed_slot]);
    free_.push_back(tossed_slot);
  }
  return resident != kNoSlot;
}

void TieredDevice::submit(const DeviceRequest& request) {
  const std::size_t request_index = begin_request(request.tag);
  if (request.write)
    write(request, request_index);
  else
    read(request, request_index);
}

void TieredDevice::read(const DeviceRequest& request, std::size_t request_index) {
  const std::int64_t end = request.address + request.length;
  bool all_hit = true;
  for (std::int64_t begin = request.address; begin < end;) {
    // Extends the stretch while its blocks are all in the tier or all missing.
    const bool hit = use_block(begin / block_);
    std::int64_t next = (begin / block_ + 1) * block_;
    while (next < end && (table_.find({static_cast<std::uint64_t>(next / block_), 0}) != kNoSlot) == hit) {
      use_block(next / block_);
      next += block_;
    }
    next = std::min(next, end);
    all_hit = all_hit && hit;
    if (hit) hit_bytes_ += next - begin;
    ++split_requests_[request_index].pieces;
    (hit ? fast_ : slow_)->submit({begin, next - begin, /*write=*/false, request_index});
    begin = next;
  }
  if (all_hit) ++hits_;
}

void TieredDevice::write(const DeviceRequest& request, std::size_t request_index) {
  const std::int64_t end = request.address + request.length;
  for (std::int64_t block = request.address / block_; block * block_ < end; ++block) use_block(block);
  ++split_requests_[request_index].pieces;
  fast_->submit({request.address, request.length, /*write=*/true, request_index});
  backlog_ += request.length;
  if (backlog_ > capacity_) {
    ++split_requests_[request_index].pieces;
    split_requests_[request_index].backlog = request.length;
    slow_->submit({request.address, request.length, /*write=*/true, request_index});
    return;
  }
  const std::size_t background = begin_request(0);
  split_requests_[background] = {.pieces = 1, .backlog = request.length, .background = true};
  slow_->submit({request.address, request.length, /*write=*/true, background});
}

void TieredDevice::done(std::uint64_t tag) {
  SplitRequest& request = split_requests_[tag];
  if (--request.pieces > 0) return;
  const SplitRequest ended = request;
  backlog_ -= ended.backlog;
  free_requests_.push_back(tag);
  if (!ended.background) completion_.done(ended.tag);
}

void TieredDevice::report(std::vector<DeviceUse>& all) const {
  const std::size_t first = all.size();
  fast_->report(all);
  if (all.size() > first) {
    all[first].hits = hits_;
    all[first].hit_bytes = hit_bytes_;
  }
  slow_->report(all);
}

}  // namespace plait::simulation
