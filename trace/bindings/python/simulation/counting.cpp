// Counting of cache hits, for one size of a cache or as a curve over all sizes.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "bind.hpp"
#include "gil_release.hpp"
#include "module.hpp"
#include "plait/trace.hpp"
#include "simulation/cache/lru_curve.hpp"
#include "simulation/cache/request_counter.hpp"
#include "string.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

using trace::Event;

static_assert(sizeof(Event) == 72, "plait.trace.EVENT describes the same bytes");

/// Passes the requests of a trace to a target, a counter or a curve, in batches of NumPy arrays.
template <typename Target>
class BatchFeed {
 public:
  BatchFeed(Target target, std::int64_t block) : target_(std::move(target)), block_(block) {}

  const Target& target() const { return target_; }

  void add_files(const nb::list& files) {
    for (const nb::handle file : files)
      requests_.add({nb::cast<std::uint32_t>(file[0]), nb::cast<std::uint32_t>(file[1]), to_bytes(file[2])});
  }

  /// Adds those of `count` events at an address that are logical, or that are physical.
  void add_events(std::uintptr_t address, std::size_t count, bool logical) {
    const std::span<const Event> events(reinterpret_cast<const Event*>(address), count);
    const GilRelease release;
    for (const Event& event : events) {
      simulation::FileRequest request;
      if (((event.flags & trace::flag::kLogical) != 0) == logical && requests_.read(event, request))
        add_request(request);
    }
  }

  /// Adds requests by their keys and, unless `sizes` is null, their sizes.
  void add_keys(std::uintptr_t keys, std::uintptr_t sizes, std::size_t count) {
    const std::span<const std::uint64_t> all(reinterpret_cast<const std::uint64_t*>(keys), count);
    const auto* bytes = reinterpret_cast<const std::int64_t*>(sizes);
    const GilRelease release;
    for (std::size_t k = 0; k < count; ++k) target_.add(all[k], bytes == nullptr ? 0 : bytes[k]);
  }

  void finish() {
    const GilRelease release;
    target_.finish();
  }

  /// Returns the numbers of events that are no ordinary requests, by kind.
  nb::dict oddities() const {
    const simulation::Oddities& odd = requests_.oddities();
    nb::dict all;
    all["empty"] = odd.empty;
    all["failed"] = odd.failed;
    all["streams"] = odd.streams;
    all["beyond"] = odd.beyond;
    all["backwards"] = odd.backwards;
    return all;
  }

 private:
  void add_request(const simulation::FileRequest& request) {
    if constexpr (requires { target_.add(request); })
      target_.add(request);
    else
      target_.add(request, block_);
  }

  Target target_;
  std::int64_t block_;
  simulation::RequestReader requests_;
};

using CounterFeed = BatchFeed<simulation::RequestCounter>;
using CurveFeed = BatchFeed<simulation::LruCurve>;

template <typename Target>
nb::class_<BatchFeed<Target>> bind_feed(nb::module_& module, const char* name) {
  nb::class_<BatchFeed<Target>> feed_class(module, name);
  feed_class
      .def("add_files", &BatchFeed<Target>::add_files,
           nb::sig("def add_files(self, files: collections.abc.Sequence[tuple[int, int, str]]) -> None"), "files"_a)
      .def("add_events", &BatchFeed<Target>::add_events, "address"_a, "count"_a, "logical"_a)
      .def("add_keys", &BatchFeed<Target>::add_keys, "keys"_a, "sizes"_a, "count"_a)
      .def("finish", &BatchFeed<Target>::finish)
      .def("oddities", &BatchFeed<Target>::oddities, nb::sig("def oddities(self) -> dict[str, int]"));
  return feed_class;
}

nb::tuple to_tuple(const simulation::CurvePoint& point) {
  return nb::make_tuple(point.size, point.requests, point.blocks, point.bytes);
}

}  // namespace

void bind_counting(nb::module_& module) {
  module.def(
      "policies",
      [] {
        nb::list all;
        for (const simulation::PolicyKind* kind : simulation::policies())
          all.append(nb::make_tuple(to_str(kind->name), to_str(kind->about), to_str(kind->parameters),
                                    static_cast<int>(kind->foresight)));
        return all;
      },
      nb::sig("def policies() -> list[tuple[str, str, str, int]]"));
  bind_feed<simulation::RequestCounter>(module, "Counter")
      .def(
          "__init__",
          [](CounterFeed* self, const std::string& policy, std::uint32_t slots, std::int64_t block, bool outcomes) {
            const simulation::CacheShape shape{slots, block, 0};
            new (self) CounterFeed({simulation::NamedPolicy(policy), shape, outcomes}, block);
          },
          "policy"_a, "slots"_a, "block"_a, "outcomes"_a)
      .def(
          "counts",
          [](const CounterFeed& self) {
            const simulation::Counts& counts = self.target().counts();
            return nb::make_tuple(counts.requests, counts.hits, counts.blocks, counts.block_hits, counts.bytes,
                                  counts.byte_hits);
          },
          nb::sig("def counts(self) -> tuple[int, int, int, int, int, int]"))
      .def("outcome_count", [](const CounterFeed& self) { return self.target().outcomes().size(); })
      .def(
          "copy_outcomes",
          [](const CounterFeed& self, std::uintptr_t address) {
            const std::span<const std::uint8_t> all = self.target().outcomes();
            if (!all.empty()) std::memcpy(reinterpret_cast<void*>(address), all.data(), all.size());
          },
          "address"_a);
  bind_feed<simulation::LruCurve>(module, "Curve")
      .def(
          "__init__",
          [](CurveFeed* self, double rate, std::uint32_t blocks, std::int64_t block) {
            new (self) CurveFeed(simulation::LruCurve(simulation::Sampling{rate, blocks}), block);
          },
          "rate"_a, "blocks"_a, "block"_a)
      .def(
          "all", [](const CurveFeed& self) { return to_tuple(self.target().totals()); },
          nb::sig("def all(self) -> tuple[int, float, float, float]"))
      .def(
          "seen", [](const CurveFeed& self) { return to_tuple(self.target().represented()); },
          nb::sig("def seen(self) -> tuple[int, float, float, float]"))
      .def(
          "found",
          [](const CurveFeed& self) {
            nb::list all;
            for (const simulation::CurvePoint& point : self.target().points()) all.append(to_tuple(point));
            return all;
          },
          nb::sig("def found(self) -> list[tuple[int, float, float, float]]"))
      .def_prop_ro("single", [](const CurveFeed& self) { return self.target().has_single_block_requests(); })
      .def_prop_ro("rate", [](const CurveFeed& self) { return self.target().rate(); })
      .def_prop_ro("blocks", [](const CurveFeed& self) { return self.target().blocks(); });
}

}  // namespace plait::python
