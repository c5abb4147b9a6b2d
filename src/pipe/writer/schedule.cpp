// The queue of steps: which slot a new step gets, and which step a reader gets next.
//
// A step occupies a slot from begin() until no reader needs it any more. For each reader the schedule records the last
// step that it has read (position) and the step that it is reading now (reading).
//
// Example with 2 slots and one reader: steps 0 and 1 are published in the slots 0 and 1. Neither has been read, so
// begin() returns nothing (kWait). After next() and done() of the reader its position is 0; slot 0 is free, and begin()
// returns step 2 in it. With kDropOldest the first begin() drops step 0 and returns step 2 in slot 0, and the reader
// gets step 1 next. If the reader is reading step 0 at that time, begin() drops step 1 instead.

#include "pipe/writer/schedule.hpp"

#include <algorithm>

namespace plait::pipe {

Schedule::Schedule(int slots, FullQueuePolicy when_full) : slots_(slots), when_full_(when_full) {
  for (int slot = slots; slot > 0; --slot) free_slots_.push_back(slot - 1);
}

bool Schedule::is_read_now(const Step& step) const {
  return std::ranges::any_of(readers_, [&](const auto& entry) { return entry.second.reading == step.number; });
}

bool Schedule::is_needed(const Step& step) const {
  if (is_read_now(step)) return true;
  if (readers_.empty()) return !step.was_read;
  return std::ranges::any_of(readers_, [&](const auto& entry) { return entry.second.position < step.number; });
}

void Schedule::release_unneeded_steps() {
  std::erase_if(steps_, [this](const Step& step) {
    if (is_needed(step)) return false;
    free_slots_.push_back(step.slot);
    return true;
  });
}

bool Schedule::may_be_read(const Step& step) const {
  if (when_full_ == FullQueuePolicy::kWait || is_read_now(step)) return true;
  // One slot must stay without readers, so that the writer can drop the step in it.
  const auto slots_in_use = std::ranges::count_if(steps_, [this](const Step& other) { return is_read_now(other); });
  return slots_in_use < slots_ - 1;
}

std::optional<Schedule::BegunStep> Schedule::begin() {
  cancel();
  if (free_slots_.empty()) release_unneeded_steps();
  if (free_slots_.empty() && when_full_ == FullQueuePolicy::kDropOldest) {
    const auto oldest = std::ranges::find_if(steps_, [this](const Step& step) { return !is_read_now(step); });
    if (oldest != steps_.end()) {
      free_slots_.push_back(oldest->slot);
      steps_.erase(oldest);
      ++dropped_;
    }
  }
  if (free_slots_.empty()) return std::nullopt;
  begun_ = Step{.number = published_, .slot = free_slots_.back(), .was_read = false};
  free_slots_.pop_back();
  return BegunStep{begun_->number, begun_->slot};
}

void Schedule::publish() {
  steps_.push_back(*begun_);
  begun_.reset();
  ++published_;
}

void Schedule::cancel() {
  if (begun_) free_slots_.push_back(begun_->slot);
  begun_.reset();
}

std::uint64_t Schedule::attach() {
  release_unneeded_steps();
  readers_[++last_reader_].position = (steps_.empty() ? published_ : steps_.front().number) - 1;
  return last_reader_;
}

std::optional<Schedule::ReadSlot> Schedule::next(std::uint64_t reader) {
  Reader& state = readers_.at(reader);
  const auto found = std::ranges::find_if(steps_, [&](const Step& step) { return step.number > state.position; });
  if (found == steps_.end() || !may_be_read(*found)) return std::nullopt;
  state.reading = found->number;
  return ReadSlot{found->number, found->slot};
}

void Schedule::leave(std::uint64_t reader, bool counts_as_read) {
  if (counts_as_read) done(reader);
  readers_.erase(reader);
  release_unneeded_steps();
}

void Schedule::done(std::uint64_t reader) {
  Reader& state = readers_.at(reader);
  if (state.reading < 0) return;
  for (Step& step : steps_)
    if (step.number == state.reading) step.was_read = true;
  state.position = state.reading;
  state.reading = -1;
  release_unneeded_steps();
}

void Schedule::set_progress(std::uint64_t reader, std::int64_t finished, std::int64_t begun) {
  Reader& state = readers_.at(reader);
  // Limit the numbers, because they come from memory into which a reader can write anything.
  finished = std::min(finished, published_ - 1);
  begun = std::min(begun, published_ - 1);
  state.reading = begun > std::max(finished, state.position) ? begun : -1;
  if (finished <= state.position) return;
  for (Step& step : steps_)
    if (step.number > state.position && step.number <= finished) step.was_read = true;
  state.position = finished;
  release_unneeded_steps();
}

bool Schedule::is_at_end(std::uint64_t reader) const {
  const std::int64_t position = readers_.at(reader).position;
  return has_ended_ && std::ranges::none_of(steps_, [&](const Step& step) { return step.number > position; });
}

bool Schedule::holds(std::int64_t step) const {
  return std::ranges::any_of(steps_, [&](const Step& held_step) { return held_step.number == step; });
}

bool Schedule::is_drained() const {
  return std::ranges::none_of(steps_, [this](const Step& step) { return is_needed(step); });
}

}  // namespace plait::pipe
