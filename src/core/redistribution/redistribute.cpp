// Redistributions as public calls.
//
// Order of a run: (1) This process checks its arrays and, unless a Redistribution has done so before, plans the
// messages.  (2) It announces its arrays to its node.  (3) All ranks agree on the call and on errors of (1) and (2).
// (4) Each rank moves its part.  (5) All ranks agree that the run is complete, after which the arrays may be used.  A
// process that is alone does (1) and (4) only.

#include "plait/redistribute.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "access/access.hpp"
#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/local_arrays.hpp"
#include "core/comm/worker.hpp"
#include "core/redistribution/apart.hpp"
#include "exchange/exchange.hpp"
#include "plan/conversion/partners.hpp"
#include "plan/section/section_products.hpp"

namespace plait {

namespace {

/// Returns which elements each rank sends to each other rank.
plan::Pairs make_pairs(const Layout& source, const Layout& target, const RedistributionOptions& options) {
  plan::SectionPair section;
  if (options.section)
    section = {options.section->shape, options.section->source_origin, options.section->target_origin};
  return {source, target, options.fill_halo, std::move(section)};
}

void check_sizes(const Layout& source, const Layout& target, std::int64_t element_bytes, const Comm& comm,
                 std::int64_t memory) {
  if (element_bytes < 1) base::throw_argument_error("an element cannot have ", element_bytes, " bytes; give 1 or more");
  if (memory < 0)
    base::throw_argument_error("memory=", memory, " is negative; give a number of bytes, or 0 for 32 MiB");
  for (const Layout* layout : {&source, &target}) core::check_ranks(*layout, comm);
}

/// Returns the number of threads with which a process that is alone moves an array.
int useful_threads(const plan::Pairs& pairs, std::int64_t element_bytes) {
  return static_cast<int>(
      std::clamp<std::int64_t>(pairs.target().size(), 1, core::useful_threads(pairs.elements(), element_bytes)));
}

std::string describe_call(const Layout& source, const Layout& target, std::int64_t element_bytes,
                          const RedistributionOptions& options) {
  std::string text = base::text("redistribute(", to_string(source), " -> ", to_string(target), ", ", element_bytes,
                                "-byte elements ", options.element_name, ", memory ", options.memory);
  if (options.fill_halo) text += ", halos filled";
  if (options.section)
    text += base::text(", ", shape_to_string(options.section->shape), " elements from ",
                       base::tuple_text(options.section->source_origin), " to ",
                       base::tuple_text(options.section->target_origin));
  return text + ')';
}

std::int64_t memory_limit(const RedistributionOptions& options) {
  return options.memory == 0 ? plan::kDefaultMemory : options.memory;
}

/// Returns the array of this rank if it has elements; nullptr otherwise.
const copy::LocalArray* own_array(const std::vector<copy::LocalArray>& arrays, const Layout& layout) {
  return arrays.empty() || layout.local_elements(arrays[0].rank) == 0 ? nullptr : arrays.data();
}

}  // namespace

// Named, because a private member of the public class Redistribution has a type of this namespace.
namespace moving {

/// The local arrays of both sides, of this process or of all ranks.
struct Sides {
  std::vector<copy::LocalArray> from;
  std::vector<copy::LocalArray> to;
};

/// A redistribution that has been checked and planned.  A process that is alone moves the arrays of all ranks itself.
class PlannedRedistribution {
 public:
  /// errors  kArgument: arguments that do not fit together, too little memory.
  PlannedRedistribution(const Layout& source, const Layout& target, std::int64_t element_bytes, const Comm& comm,
                        const RedistributionOptions& options)
      : element_bytes_(element_bytes), comm_(comm) {
    check_sizes(source, target, element_bytes, comm, options.memory);
    pairs_.emplace(make_pairs(source, target, options));
    if (!comm.alone()) exchange_.emplace(*pairs_, element_bytes, memory_limit(options), core::get_transport(comm));
  }

  /// Returns the local arrays of a run, after checks.  errors  kArgument: they do not fit the layouts, or share memory.
  Sides make_sides(std::span<const ConstPart> source_parts, std::span<const MutablePart> target_parts) const {
    Sides sides{core::local_arrays(pairs_->source(), core::as_mutable(source_parts), element_bytes_, comm_),
                core::local_arrays(pairs_->target(), target_parts, element_bytes_, comm_)};
    core::check_moved(*pairs_, sides.from, sides.to, element_bytes_);
    return sides;
  }

  /// Informs the ranks of the node which memory the arrays of this rank have.
  void announce(const Sides& sides) {
    if (exchange_) exchange_->announce(own_array(sides.from, pairs_->source()), own_array(sides.to, pairs_->target()));
  }
  void run(const Sides& sides) {
    if (!exchange_) {
      exchange::gather_all(*pairs_, sides.from, sides.to, element_bytes_, useful_threads(*pairs_, element_bytes_));
    } else if (pairs_->elements() > 0) {
      exchange_->run();
    }
  }

  std::string explain() const {
    if (exchange_) return exchange_->explain();
    return base::text("from     ", to_string(pairs_->source()), "\nto       ", to_string(pairs_->target()),
                      "\ninside   one process, one copy by ", useful_threads(*pairs_, element_bytes_), " threads\n");
  }

 private:
  std::int64_t element_bytes_;
  Comm comm_;
  std::optional<plan::Pairs> pairs_;
  std::optional<exchange::Exchange> exchange_;
};

}  // namespace moving

namespace {

using moving::PlannedRedistribution;
using moving::Sides;

/// Agrees on a call with the other ranks and carries it out.  `planned` is null only if `check_error` is an error.
void carry_out(const Comm& comm, PlannedRedistribution* planned, const Sides& sides, const std::string& call,
               std::exception_ptr check_error) {
  if (comm.alone()) {
    if (check_error) std::rethrow_exception(check_error);
    planned->run(sides);
    return;
  }
  if (!check_error) check_error = collective::caught([&] { planned->announce(sides); });
  collective::Collective together(core::get_transport(comm), call, check_error);
  together.run_phase([&] { planned->run(sides); });
}

/// An array of the caller: this process's parts of a layout.
template <typename Part>
struct LocalParts {
  const Layout& layout;
  std::span<const Part> parts;
};

void redistribute_now(const LocalParts<ConstPart>& source, const LocalParts<MutablePart>& target,
                      std::int64_t element_bytes, const Comm& comm, const RedistributionOptions& options) {
  Sides sides;
  std::optional<PlannedRedistribution> planned;
  std::string call;
  const auto check_error = collective::caught([&] {
    if (comm.size() > 1) call = describe_call(source.layout, target.layout, element_bytes, options);
    planned.emplace(source.layout, target.layout, element_bytes, comm, options);
    sides = planned->make_sides(source.parts, target.parts);
  });
  carry_out(comm, planned ? &*planned : nullptr, sides, call, check_error);
}

}  // namespace

void redistribute(const Layout& source, std::span<const ConstPart> source_parts, const Layout& target,
                  std::span<const MutablePart> target_parts, std::int64_t element_bytes, const Comm& comm,
                  const RedistributionOptions& options) {
  const auto task = [&] {
    redistribute_now({source, source_parts}, {target, target_parts}, element_bytes, comm, options);
  };
  core::guarded(comm, [&] { comm.alone() ? task() : core::get_worker(comm)->run(task); });
}

Request start_redistribute(const Layout& source, std::vector<ConstPart> source_parts, const Layout& target,
                           std::vector<MutablePart> target_parts, std::int64_t element_bytes, const Comm& comm,
                           const RedistributionOptions& options) {
  return core::guarded(comm, [&] {
    auto task = [=] { redistribute_now({source, source_parts}, {target, target_parts}, element_bytes, comm, options); };
    return Request(core::get_worker(comm)->start(std::move(task)));
  });
}

void fail_redistribute(const std::string& message, const Comm& comm, int system_code) {
  core::fail_in_turn(comm, message, system_code);
}

class Redistribution::Impl {
 public:
  Impl(const Layout& source, const Layout& target, std::int64_t element_bytes, const Comm& comm,
       const RedistributionOptions& options)
      : comm_(comm), worker_(core::get_worker(comm)) {
    const auto plan = [&] { planned_.emplace(source, target, element_bytes, comm, options); };
    if (comm.alone()) {
      plan();
      return;
    }
    worker_->run([&] {
      const auto planned = collective::caught(plan);
      const collective::Collective planning(
          core::get_transport(comm), [&] { return "plan " + describe_call(source, target, element_bytes, options); },
          [&] {
            if (planned) std::rethrow_exception(planned);
          });
      number_ = core::get_transport(comm).next_number();
    });
  }

  void run(std::span<const ConstPart> source_parts, std::span<const MutablePart> target_parts) {
    Sides sides;
    std::string call;
    const auto check_error = collective::caught([&] {
      call = base::text("run() of redistribution number ", number_);
      sides = planned_->make_sides(source_parts, target_parts);
    });
    carry_out(comm_, &*planned_, sides, call, check_error);
  }

  ~Impl() {
    const base::UninterruptedScope uninterrupted;
    for (const auto& request : started_requests_) collective::caught([&] { request->wait(); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Request start(std::vector<ConstPart> source_parts, std::vector<MutablePart> target_parts) {
    check_owner();
    std::erase_if(started_requests_, [](const auto& request) { return request->done(); });
    started_requests_.push_back(
        worker_->start([this, from = std::move(source_parts), to = std::move(target_parts)] { run(from, to); }));
    return Request(started_requests_.back());
  }

  const base::Owner& owner() const { return owner_; }
  core::Worker& worker() {
    check_owner();
    return *worker_;
  }
  const Comm& comm() const { return comm_; }

  std::string explain() const { return planned_->explain(); }

 private:
  void check_owner() const { owner_.check("the redistribution", "plan it anew in this process"); }

  const base::Owner owner_;
  Comm comm_;
  std::shared_ptr<core::Worker> worker_;
  std::optional<moving::PlannedRedistribution> planned_;
  std::int64_t number_ = 0;  // number on its Comm, the same on every rank
  std::vector<std::shared_ptr<Request::Impl>> started_requests_;
};

Redistribution::Redistribution(const Layout& source, const Layout& target, std::int64_t element_bytes, const Comm& comm,
                               const RedistributionOptions& options)
    : impl_(core::guarded(comm, [&] { return std::make_unique<Impl>(source, target, element_bytes, comm, options); })) {
}
Redistribution::~Redistribution() {
  if (impl_) base::destroy_or_leak(impl_, impl_->owner());
}
Redistribution::Redistribution(Redistribution&&) noexcept = default;
Redistribution& Redistribution::operator=(Redistribution&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

void Redistribution::run(std::span<const ConstPart> source_parts, std::span<const MutablePart> target_parts) {
  core::guarded(impl_->comm(), [&] { impl_->worker().run([&] { impl_->run(source_parts, target_parts); }); });
}

Request Redistribution::start(std::vector<ConstPart> source_parts, std::vector<MutablePart> target_parts) {
  return core::guarded(impl_->comm(), [&] { return impl_->start(std::move(source_parts), std::move(target_parts)); });
}

void Redistribution::fail(const std::string& message, int system_code) {
  impl_->worker().run([&] { core::fail(impl_->comm(), message, system_code); });
  throw core::call_error(message, system_code);
}

std::string Redistribution::explain() const { return impl_->explain(); }

}  // namespace plait
