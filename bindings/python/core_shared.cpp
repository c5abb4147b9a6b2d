// plait.SharedFile for Python: the part in C++, which takes the addresses of buffers.

#include <nanobind/nanobind.h>

#include <cstdint>

#include "base/errors.hpp"
#include "bind.hpp"
#include "gil_release.hpp"
#include "plait/error.hpp"
#include "plait/shared_file.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

void* to_pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

SharedFileMode parse_mode(const std::string& mode) {
  if (mode == "r") return SharedFileMode::kRead;
  if (mode == "r+") return SharedFileMode::kReadWrite;
  if (mode == "w") return SharedFileMode::kWrite;
  base::throw_argument_error("mode \"" + mode + "\" is not known; use \"r\", \"r+\" or \"w\"");
}

using GilReleaseGuard = nb::call_guard<GilRelease>;

}  // namespace

void bind_shared(nb::module_& module) {
  nb::class_<SharedFile>(module, "SharedFile")
      .def_static(
          "open",
          [](const std::string& path, const std::string& mode, bool persistent, bool atomic, std::int64_t request,
             std::int64_t unit, std::int64_t limit, std::int64_t expected, std::optional<bool> striped,
             const Comm& comm) {
            const GilRelease release;
            SharedFileOptions options;
            options.path = path;
            options.persistent = persistent;
            options.atomic = atomic;
            options.request = request;
            options.unit = unit;
            options.limit = limit;
            options.expected = expected;
            options.striped = striped;
            try {
              options.mode = parse_mode(mode);
            } catch (const Error& error) {
              SharedFile::fail_open(error.what(), comm, error.system_code());
            }
            return SharedFile::open(options, comm);
          },
          "path"_a, "mode"_a, "persistent"_a, "atomic"_a, "request"_a, "unit"_a, "limit"_a, "expected"_a, "striped"_a,
          "comm"_a)
      .def_static("fail_open", &SharedFile::fail_open, nb::sig(kFailOpen), "message"_a, "comm"_a, "code"_a = 0,
                  GilReleaseGuard())
      .def_prop_ro("is_open", &SharedFile::is_open)
      .def_prop_ro("striped", &SharedFile::is_striped)
      .def_prop_ro("components", &SharedFile::components)
      .def_prop_ro("unit", &SharedFile::unit)
      .def("owner", &SharedFile::owner, "component"_a)
      .def(
          "read",
          [](SharedFile& self, std::int64_t offset, std::uintptr_t data, std::int64_t bytes) {
            self.read(offset, to_pointer(data), bytes);
          },
          "offset"_a, "data"_a, "bytes"_a, GilReleaseGuard())
      .def(
          "write",
          [](SharedFile& self, std::int64_t offset, std::uintptr_t data, std::int64_t bytes) {
            self.write(offset, to_pointer(data), bytes);
          },
          "offset"_a, "data"_a, "bytes"_a, GilReleaseGuard())
      .def(
          "start_read",
          [](SharedFile& self, std::int64_t offset, std::uintptr_t data, std::int64_t bytes) {
            return self.start_read(offset, to_pointer(data), bytes);
          },
          "offset"_a, "data"_a, "bytes"_a, GilReleaseGuard())
      .def(
          "start_write",
          [](SharedFile& self, std::int64_t offset, std::uintptr_t data, std::int64_t bytes) {
            return self.start_write(offset, to_pointer(data), bytes);
          },
          "offset"_a, "data"_a, "bytes"_a, GilReleaseGuard())
      .def("size", &SharedFile::size, GilReleaseGuard())
      .def("resize", &SharedFile::resize, "bytes"_a, GilReleaseGuard())
      .def("fail", &SharedFile::fail, nb::sig(kFail), "message"_a, "code"_a = 0, GilReleaseGuard())
      .def("sync", &SharedFile::sync, GilReleaseGuard())
      .def("read_only", &SharedFile::read_only)
      .def("close", &SharedFile::close, GilReleaseGuard())
      .def("abandon", &SharedFile::abandon, GilReleaseGuard());
}

}  // namespace plait::python
