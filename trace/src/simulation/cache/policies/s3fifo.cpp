/// S3-FIFO. Source: J. Yang, Y. Zhang, Z. Qiu, Y. Yue and K. V. Rashmi, "FIFO queues are all you need for cache
/// eviction", SOSP 2023, algorithm 1: a small queue S for new blocks, a main queue M, and a queue G that remembers
/// blocks that left S.
///
/// Uses are counted up to 3. A block at the end of S that was used more than once moves to M with a count of 0; any
/// other block is replaced and remembered. A block at the end of M that was used returns to its front with a count of
/// one less; any other block is replaced. A miss on a remembered block inserts it into M. S gives up a block if it
/// has reached its share, otherwise M does; if all of S moved to M, M gives up one.
///
/// Until the cache is full for the first time, new blocks enter S, as in the paper. With fill=main they enter M after
/// S has reached its share.
#include <string>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "simulation/cache/counting_cache.hpp"
#include "simulation/cache/ghosts.hpp"
#include "simulation/cache/policies/policies.hpp"
#include "simulation/cache/slot_lists.hpp"

namespace plait::simulation {

namespace {

bool fills_main(const Parameters& parameters) {
  const std::string_view fill = parameters.text("fill");
  if (fill != "small" && fill != "main")
    base::throw_argument_error("fill=", fill,
                               " of the replacement policy s3fifo is neither small nor main; give one of them");
  return fill == "main";
}

class S3Fifo final : public Policy {
 public:
  S3Fifo(const CacheShape& shape, const Parameters& parameters)
      : small_share_(parameters.blocks("small", shape)),
        max_ghosts_(parameters.blocks("ghost", shape, 8)),
        fills_main_(fills_main(parameters)) {}

  void hit(Slot slot, const Use&) override {
    State& state = states_[slot];
    if (state.uses < 3) ++state.uses;
  }

  void admit(Slot slot, const Use& use) override {
    if (!miss_.end(use.key)) take_from_ghosts(use);
    const bool to_main = is_remembered_ || (fills_main_ && small_.size >= small_share_);
    keys_.find_or_create(slot) = use.key;
    states_.find_or_create(slot) = {0, to_main};
    links_.add(to_main ? main_ : small_, slot);
  }

  Slot victim(const Use& use) override {
    miss_.begin(use.key);
    take_from_ghosts(use);
    fills_main_ = false;
    if (small_.size >= small_share_ || main_.empty()) {
      while (!small_.empty()) {
        const Slot slot = links_.pop_back(small_);
        if (states_[slot].uses < 2) {
          if (ghosts_.size() == max_ghosts_) ghosts_.pop();
          ghosts_.push(keys_[slot]);
          return slot;
        }
        states_[slot] = {0, true};
        links_.push_front(main_, slot);
      }
    }
    while (states_[main_.back].uses > 0) {
      --states_[main_.back].uses;
      links_.move_to_front(main_, main_.back);
    }
    return links_.pop_back(main_);
  }

  void removed(Slot slot) override { links_.erase(states_[slot].is_main ? main_ : small_, slot); }

 private:
  struct State {
    std::uint8_t uses = 0;
    bool is_main = false;
  };

  void take_from_ghosts(const Use& use) { is_remembered_ = ghosts_.erase(use.key); }

  Slot small_share_;
  Slot max_ghosts_;
  bool fills_main_;
  SlotLinks links_;
  SlotTable<BlockKey> keys_;
  SlotTable<State> states_;
  SlotList small_;  // S
  SlotList main_;   // M
  Ghosts ghosts_;   // G
  PendingMiss miss_;
  bool is_remembered_ = false;  // true if the missing block was remembered, so it enters the main queue
};

}  // namespace

const PolicyKind& s3fifo() {
  static const PolicyKind kKind = policy_kind<S3Fifo>(
      "s3fifo", "the oldest of those used at most once since they came, or the first unused of the others",
      "small=10%&ghost=90%&fill=small");
  return kKind;
}

}  // namespace plait::simulation
