#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>
#include <tuple>

#include "base/memory/recycled.hpp"
#include "bind.hpp"
#include "copy/strided_copy.hpp"
#include "parts.hpp"
#include "plait/redistribute.hpp"
#include "string.hpp"
#include "typed.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

/// (shape, origin in the source, origin in the target)
using SectionTuple = std::tuple<Extents, Extents, Extents>;

RedistributionOptions options_of(std::int64_t memory, const std::string& dtype, bool fill_halo,
                                 const std::optional<SectionTuple>& section) {
  RedistributionOptions options;
  options.memory = memory;
  options.element_name = dtype;
  options.fill_halo = fill_halo;
  if (section) options.section = Section{std::get<0>(*section), std::get<1>(*section), std::get<2>(*section)};
  return options;
}

/// Bytes that all processes of a node see; they live as long as anything that refers to them.
nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>> shared_bytes(std::int64_t bytes, const Comm& comm) {
  auto* memory = [&] {
    const Unlocked release;
    return new SharedMemory(bytes, comm);
  }();
  nb::capsule owner(memory, [](void* held) noexcept { delete static_cast<SharedMemory*>(held); });
  return nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(memory->data(), {static_cast<std::size_t>(memory->bytes())},
                                                           owner);
}

/// Bytes of any content for a result; once nothing refers to them they wait for the next one.
nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>> recycled_bytes(std::int64_t bytes) {
  auto* memory = new base::RecycledBlock(bytes);
  nb::capsule owner(memory, [](void* held) noexcept { delete static_cast<base::RecycledBlock*>(held); });
  return nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(memory->data(), {static_cast<std::size_t>(bytes)}, owner);
}

}  // namespace

void bind_redistribute(nb::module_& module) {
  nb::class_<Redistribution>(module, "Redistribution")
      .def(
          "__init__",
          [](Redistribution* self, const Layout& source, const Layout& target, std::int64_t element_bytes,
             const Comm& comm, std::int64_t memory, const std::string& dtype, bool fill_halo,
             const std::optional<SectionTuple>& section) {
            const auto options = options_of(memory, dtype, fill_halo, section);
            const Unlocked release;
            new (self) Redistribution(source, target, element_bytes, comm, options);
          },
          "source"_a, "target"_a, "element_bytes"_a, "comm"_a, "memory"_a, "dtype"_a, "fill_halo"_a, "section"_a.none())
      .def(
          "run",
          [](Redistribution& self, const Sequence& from, const Sequence& to) {
            const auto sources = parts_of<const std::byte>(from);
            const auto targets = parts_of<std::byte>(to);
            const Unlocked release;
            self.run(sources, targets);
          },
          "from_"_a, "to"_a)
      .def(
          "start",
          [](Redistribution& self, const Sequence& from, const Sequence& to) {
            return self.start(parts_of<const std::byte>(from), parts_of<std::byte>(to));
          },
          "from_"_a, "to"_a)
      .def("fail", &Redistribution::fail, nb::sig(kFail), "message"_a, "code"_a = 0, nb::call_guard<Unlocked>())
      .def("explain", &Redistribution::explain, nb::call_guard<Unlocked>());

  module.def("shared_bytes", &shared_bytes, "bytes"_a, "comm"_a);
  module.attr("least_recycled") = base::kLeastRecycled;
  module.def("recycled_bytes", &recycled_bytes, "bytes"_a);
  module.def("most_recycled", &base::most_recycled);
  module.def("set_most_recycled", &base::set_most_recycled, "bytes"_a);
  module.def("waiting_recycled", &base::waiting_recycled);
  // For benchmarks: one copy of bytes that follow each other, as fast as this process does it.
  module.def(
      "copy_bytes",
      [](std::uintptr_t target, std::uintptr_t source, std::int64_t bytes, bool past_caches) {
        const Unlocked release;
        auto* to = reinterpret_cast<std::byte*>(target);
        const auto* from = reinterpret_cast<const std::byte*>(source);
        if (past_caches) {
          copy::strided_copy(to, from, bytes, {}, copy::Landing::kMemory);
        } else {
          std::memcpy(to, from, static_cast<std::size_t>(bytes));
        }
      },
      "target"_a, "source"_a, "bytes"_a, "past_caches"_a);
  module.def("tell", &tell, "call"_a, "text"_a, "root"_a, "comm"_a, nb::call_guard<Unlocked>());
  module.def("fail_redistribute", &fail_redistribute,
             nb::sig("def fail_redistribute(message: str, comm: Comm, code: int = 0) -> typing.NoReturn"), "message"_a,
             "comm"_a, "code"_a = 0, nb::call_guard<Unlocked>());
  module.def(
      "redistribute",
      [](const Layout& source, const Sequence& from, const Layout& target, const Sequence& to,
         std::int64_t element_bytes, const Comm& comm, std::int64_t memory, const std::string& dtype, bool fill_halo,
         const std::optional<SectionTuple>& section) {
        const auto sources = parts_of<const std::byte>(from);
        const auto targets = parts_of<std::byte>(to);
        const auto options = options_of(memory, dtype, fill_halo, section);
        const Unlocked release;
        redistribute(source, sources, target, targets, element_bytes, comm, options);
      },
      "source"_a, "from_"_a, "target"_a, "to"_a, "element_bytes"_a, "comm"_a, "memory"_a, "dtype"_a, "fill_halo"_a,
      "section"_a.none());
  module.def(
      "start_redistribute",
      [](const Layout& source, const Sequence& from, const Layout& target, const Sequence& to,
         std::int64_t element_bytes, const Comm& comm, std::int64_t memory, const std::string& dtype, bool fill_halo,
         const std::optional<SectionTuple>& section) {
        return start_redistribute(source, parts_of<const std::byte>(from), target, parts_of<std::byte>(to),
                                  element_bytes, comm, options_of(memory, dtype, fill_halo, section));
      },
      "source"_a, "from_"_a, "target"_a, "to"_a, "element_bytes"_a, "comm"_a, "memory"_a, "dtype"_a, "fill_halo"_a,
      "section"_a.none());
}

}  // namespace plait::python
