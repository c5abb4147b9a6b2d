// Redistribution of arrays in memory for Python, and memory that the processes of a node share.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>

#include "base/memory/recycled.hpp"
#include "bind.hpp"
#include "copy/strided_copy.hpp"
#include "gil_release.hpp"
#include "parts.hpp"
#include "plait/redistribute.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

/// The arguments of a redistribution: layouts, the size and name of an element, and options.
struct RedistributionCall {
  Layout source;
  Layout target;
  std::int64_t element_bytes = 0;
  RedistributionOptions options;
};

/// Makes bytes that all processes of a node share. They exist as long as an object refers to them.
nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>> shared_bytes(std::int64_t bytes, const Comm& comm) {
  auto* memory = [&] {
    const GilRelease release;
    return new SharedMemory(bytes, comm);
  }();
  nb::capsule owner(memory, [](void* object) noexcept { delete static_cast<SharedMemory*>(object); });
  return nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(memory->data(), {static_cast<std::size_t>(memory->bytes())},
                                                           owner);
}

/// Makes a buffer of undefined content for a result. When no object refers to it, it is recycled for the next result.
nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>> recycled_bytes(std::int64_t bytes) {
  auto* memory = new base::RecycledBlock(bytes);
  nb::capsule owner(memory, [](void* object) noexcept { delete static_cast<base::RecycledBlock*>(object); });
  return nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(memory->data(), {static_cast<std::size_t>(bytes)}, owner);
}

void bind_call(nb::module_& module) {
  nb::class_<Section>(module, "Section")
      .def(
          "__init__",
          [](Section* self, const Extents& shape, const Extents& source_origin, const Extents& target_origin) {
            new (self) Section{shape, source_origin, target_origin};
          },
          "shape"_a, "source_origin"_a, "target_origin"_a);
  nb::class_<RedistributionOptions>(module, "RedistributionOptions")
      .def(nb::init<>())
      .def_rw("memory", &RedistributionOptions::memory)
      .def_rw("element_name", &RedistributionOptions::element_name)
      .def_rw("fill_halo", &RedistributionOptions::fill_halo)
      .def_rw("section", &RedistributionOptions::section);
  nb::class_<RedistributionCall>(module, "RedistributionCall")
      .def(
          "__init__",
          [](RedistributionCall* self, const Layout& source, const Layout& target, std::int64_t element_bytes,
             const RedistributionOptions& options) {
            new (self) RedistributionCall{source, target, element_bytes, options};
          },
          "source"_a, "target"_a, "element_bytes"_a, "options"_a);
}

}  // namespace

void bind_redistribute(nb::module_& module) {
  bind_call(module);
  nb::class_<Redistribution>(module, "Redistribution")
      .def(
          "__init__",
          [](Redistribution* self, const RedistributionCall& call, const Comm& comm) {
            const GilRelease release;
            new (self) Redistribution(call.source, call.target, call.element_bytes, comm, call.options);
          },
          "call"_a, "comm"_a)
      .def(
          "run",
          [](Redistribution& self, const Sequence& from, const Sequence& to) {
            const auto sources = to_parts<const std::byte>(from);
            const auto targets = to_parts<std::byte>(to);
            const GilRelease release;
            self.run(sources, targets);
          },
          "from_"_a, "to"_a)
      .def(
          "start",
          [](Redistribution& self, const Sequence& from, const Sequence& to) {
            return self.start(to_parts<const std::byte>(from), to_parts<std::byte>(to));
          },
          "from_"_a, "to"_a)
      .def("fail", &Redistribution::fail, nb::sig(kFail), "message"_a, "code"_a = 0, nb::call_guard<GilRelease>())
      .def("explain", &Redistribution::explain, nb::call_guard<GilRelease>());

  module.def("shared_bytes", &shared_bytes, "bytes"_a, "comm"_a);
  module.attr("min_recycled") = base::kMinRecycled;
  module.def("recycled_bytes", &recycled_bytes, "bytes"_a);
  module.def("max_recycled", &base::max_recycled);
  module.def("set_max_recycled", &base::set_max_recycled, "bytes"_a);
  module.def("waiting_recycled", &base::waiting_recycled);
  // For benchmarks: makes one contiguous copy, as fast as this process can.
  module.def(
      "copy_bytes",
      [](std::uintptr_t target, std::uintptr_t source, std::int64_t bytes, bool past_caches) {
        const GilRelease release;
        auto* to = reinterpret_cast<std::byte*>(target);
        const auto* from = reinterpret_cast<const std::byte*>(source);
        if (past_caches) {
          copy::strided_copy(to, from, bytes, {}, copy::Destination::kMemory);
        } else {
          std::memcpy(to, from, static_cast<std::size_t>(bytes));
        }
      },
      "target"_a, "source"_a, "bytes"_a, "past_caches"_a);
  module.def("broadcast_text", &broadcast_text, "call"_a, "text"_a, "root"_a, "comm"_a, nb::call_guard<GilRelease>());
  module.def("fail_redistribute", &fail_redistribute,
             nb::sig("def fail_redistribute(message: str, comm: Comm, code: int = 0) -> typing.NoReturn"), "message"_a,
             "comm"_a, "code"_a = 0, nb::call_guard<GilRelease>());
  module.def(
      "redistribute",
      [](const RedistributionCall& call, const Sequence& from, const Sequence& to, const Comm& comm) {
        const auto sources = to_parts<const std::byte>(from);
        const auto targets = to_parts<std::byte>(to);
        const GilRelease release;
        redistribute(call.source, sources, call.target, targets, call.element_bytes, comm, call.options);
      },
      "call"_a, "from_"_a, "to"_a, "comm"_a);
  module.def(
      "start_redistribute",
      [](const RedistributionCall& call, const Sequence& from, const Sequence& to, const Comm& comm) {
        return start_redistribute(call.source, to_parts<const std::byte>(from), call.target, to_parts<std::byte>(to),
                                  call.element_bytes, comm, call.options);
      },
      "call"_a, "from_"_a, "to"_a, "comm"_a);
}

}  // namespace plait::python
