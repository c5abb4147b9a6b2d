// plait.DistantFile for Python: the part in C++, which takes the addresses of buffers.

#include <nanobind/nanobind.h>

#include <cstdint>

#include "base/errors.hpp"
#include "bind.hpp"
#include "gil_release.hpp"
#include "plait/distant.hpp"
#include "plait/error.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

void* to_pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

DistantOptions make_options(const std::string& path, const std::string& mode, bool temporary) {
  DistantOptions options;
  options.path = path;
  options.temporary = temporary;
  if (mode == "r") {
    options.mode = DistantMode::kRead;
  } else if (mode == "w") {
    options.mode = DistantMode::kWrite;
  } else if (mode != "r+") {
    base::throw_argument_error("mode \"" + mode + "\" is not known; use \"r\", \"r+\" or \"w\"");
  }
  return options;
}

using GilReleaseGuard = nb::call_guard<GilRelease>;

}  // namespace

void bind_distant(nb::module_& module) {
  nb::class_<DistantRequest>(module, "DistantRequest")
      .def("wait", &DistantRequest::wait, GilReleaseGuard())
      .def("test", &DistantRequest::test);

  nb::class_<DistantFile>(module, "DistantFile")
      .def_static(
          "open",
          [](const std::string& path, const std::string& mode, bool temporary, const Comm& comm) {
            const GilRelease release;
            DistantOptions options;
            try {
              options = make_options(path, mode, temporary);
            } catch (const Error& error) {
              DistantFile::fail_open(error.what(), comm, error.system_code());
            }
            return DistantFile::open(options, comm);
          },
          "path"_a, "mode"_a, "temporary"_a, "comm"_a)
      .def_static("fail_open", &DistantFile::fail_open, nb::sig(kFailOpen), "message"_a, "comm"_a, "code"_a = 0,
                  GilReleaseGuard())
      .def_static(
          "offer",
          [](const std::string& name, const std::string& path, const std::string& mode, bool temporary,
             const Comm& comm) {
            const GilRelease release;
            return DistantFile::offer(name, make_options(path, mode, temporary), comm);
          },
          "name"_a, "path"_a, "mode"_a, "temporary"_a, "comm"_a)
      .def_static("find", &DistantFile::find, "name"_a, "comm"_a, GilReleaseGuard())
      .def_prop_ro("owner", &DistantFile::owner)
      .def_prop_ro("is_open", &DistantFile::is_open)
      .def("direct", &DistantFile::direct, "rank"_a)
      .def(
          "read",
          [](DistantFile& self, std::int64_t offset, std::uintptr_t data, std::int64_t bytes, int rank) {
            self.read(offset, to_pointer(data), bytes, rank);
          },
          "offset"_a, "data"_a, "bytes"_a, "rank"_a, GilReleaseGuard())
      .def(
          "write",
          [](DistantFile& self, std::int64_t offset, std::uintptr_t data, std::int64_t bytes, int rank) {
            self.write(offset, to_pointer(data), bytes, rank);
          },
          "offset"_a, "data"_a, "bytes"_a, "rank"_a, GilReleaseGuard())
      .def(
          "start_read",
          [](DistantFile& self, std::int64_t offset, std::uintptr_t data, std::int64_t bytes, int rank) {
            return self.start_read(offset, to_pointer(data), bytes, rank);
          },
          "offset"_a, "data"_a, "bytes"_a, "rank"_a, GilReleaseGuard())
      .def(
          "start_write",
          [](DistantFile& self, std::int64_t offset, std::uintptr_t data, std::int64_t bytes, int rank) {
            return self.start_write(offset, to_pointer(data), bytes, rank);
          },
          "offset"_a, "data"_a, "bytes"_a, "rank"_a, GilReleaseGuard())
      .def("sync", &DistantFile::sync, "rank"_a, GilReleaseGuard())
      .def("start_sync", &DistantFile::start_sync, "rank"_a, GilReleaseGuard())
      .def("size", &DistantFile::size, "rank"_a, GilReleaseGuard())
      .def("resize", &DistantFile::resize, "bytes"_a, "rank"_a, GilReleaseGuard())
      .def("close", &DistantFile::close, GilReleaseGuard())
      .def("abandon", &DistantFile::abandon, GilReleaseGuard());
}

}  // namespace plait::python
