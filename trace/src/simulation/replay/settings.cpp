// Checks of the settings of a replay.

#include "simulation/replay/settings.hpp"

#include "base/errors.hpp"
#include "simulation/cache/registry.hpp"

namespace plait::simulation {

namespace {

void require(bool holds, std::string_view what, double found, std::string_view expected) {
  if (!holds) base::throw_argument_error("found ", what, " = ", found, ", expected ", expected, "; correct it");
}

}  // namespace

void ReplaySettings::check() const {
  const auto number = [](auto value) { return static_cast<double>(value); };
  require(processors.count >= 1 && processors.count <= 1'000'000, "processors", number(processors.count),
          "1 to 1000000");
  require(processors.quantum > 0, "the quantum in ns", number(processors.quantum), "above 0");
  for (const Time cost : {processors.switch_cost, processors.call_cost, processors.interrupt_cost, processors.hit_cost})
    require(cost >= 0, "a cost in ns", number(cost), "0 or above");
  require(processors.copy_rate >= 1, "the copy rate in bytes a second", processors.copy_rate, "at least 1");
  require(cache.block >= 512 && cache.block <= (std::int64_t{1} << 40), "the block size of the cache in bytes",
          number(cache.block), "512 to 2^40");
  if (program.measured) return;
  if (cache.size != 0 && cache.size < cache.block)
    base::throw_argument_error("found a cache of ", cache.size, " bytes, which is smaller than one of its blocks of ",
                               cache.block, "; make it larger, the block smaller, or give 0 for no cache");
  require(cache.size >= 0 && cache.size / cache.block < kNoSlot, "the cache size in bytes", number(cache.size),
          "0 to below 2^32 blocks");
  require(cache.process_limit == 0 || cache.process_limit >= cache.block, "the limit of a process in bytes",
          number(cache.process_limit), "0 for none, or at least one block");
  require(cache.read_ahead_size >= 0, "the size of read-ahead in bytes", number(cache.read_ahead_size), "0 or above");
  require(cache.delay >= 0, "the delay of writes in ns", number(cache.delay), "0 or above");
  require(cache.flush_interval > 0, "the interval of delayed writes in ns", number(cache.flush_interval), "above 0");
  require(cache.dirty_start >= 0 && cache.dirty_start <= 1, "the share at which dirty blocks are written",
          cache.dirty_start, "a share from 0 to 1");
  require(cache.dirty_limit >= 0 && cache.dirty_limit <= 1, "the limit of dirty blocks", cache.dirty_limit,
          "a share from 0 to 1");
  require(cache.coalesce >= 0, "the largest coalesced request in bytes", number(cache.coalesce), "0 or above");
  require(device.flush >= 0, "the time of a flush in ns", number(device.flush), "0 or above");
  require(device.flush_writes >= 0 && device.flush_writes <= 1000, "the writes of a flush", number(device.flush_writes),
          "0 to 1000");
  require(program.aggregate >= 0, "the size to aggregate to in bytes", number(program.aggregate), "0 or above");
  if (cache.size != 0 && NamedPolicy(cache.policy).kind().foresight == Foresight::kProcesses)
    base::throw_argument_error(
        "the policy ", cache.policy,
        " has to know how many programs will use a block, which a replay does not tell; use another "
        "policy, or count hits without time");
}

}  // namespace plait::simulation
