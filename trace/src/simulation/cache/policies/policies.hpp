/// The replacement policies, one per file; registry.cpp lists them.
#pragma once

#include "simulation/cache/policy_kind.hpp"

namespace plait::simulation {

const PolicyKind& lru();
const PolicyKind& fifo();
const PolicyKind& clock();
const PolicyKind& lfu();
const PolicyKind& two_queues();
const PolicyKind& arc();
const PolicyKind& sieve();
const PolicyKind& s3fifo();
const PolicyKind& belady();
const PolicyKind& toss();
const PolicyKind& toss_parallel();
const PolicyKind& partition();

}  // namespace plait::simulation
