// plait.Stream for Python: the part in C++, which takes the addresses of buffers.

#include <nanobind/nanobind.h>

#include <cstdint>

#include "bind.hpp"
#include "gil_release.hpp"
#include "plait/error.hpp"
#include "plait/stream.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

std::byte* bytes_at(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

}  // namespace

void bind_stream(nb::module_& module) {
  nb::class_<StreamRequest>(module, "StreamRequest")
      .def("wait", &StreamRequest::wait, nb::call_guard<GilRelease>())
      .def("test", &StreamRequest::test);

  nb::class_<Stream>(module, "Stream")
      .def(
          "__init__",
          [](Stream* self, File& file, int mode) {
            const GilRelease release;
            new (self) Stream(file, static_cast<StreamMode>(mode));
          },
          nb::keep_alive<1, 2>(), "file"_a, "mode"_a)
      .def_prop_ro("mode", [](const Stream& self) { return static_cast<int>(self.mode()); })
      .def_prop_ro("is_open", &Stream::is_open)
      .def(
          "read",
          [](Stream& self, std::uintptr_t data, std::int64_t elements) {
            const GilRelease release;
            return self.read(bytes_at(data), elements);
          },
          "data"_a, "elements"_a)
      .def(
          "write",
          [](Stream& self, std::uintptr_t data, std::int64_t elements) {
            const GilRelease release;
            return self.write(bytes_at(data), elements);
          },
          "data"_a, "elements"_a)
      .def(
          "start_read",
          [](Stream& self, std::uintptr_t data, std::int64_t elements) {
            const GilRelease release;
            return self.start_read(bytes_at(data), elements);
          },
          "data"_a, "elements"_a)
      .def(
          "start_write",
          [](Stream& self, std::uintptr_t data, std::int64_t elements) {
            const GilRelease release;
            return self.start_write(bytes_at(data), elements);
          },
          "data"_a, "elements"_a)
      .def("tell", &Stream::tell, nb::call_guard<GilRelease>())
      .def("seek", &Stream::seek, "element"_a, nb::call_guard<GilRelease>())
      .def("close", &Stream::close, nb::call_guard<GilRelease>())
      .def("fail", &Stream::fail, nb::sig(kFail), "message"_a, "code"_a = 0, nb::call_guard<GilRelease>());
}

}  // namespace plait::python
