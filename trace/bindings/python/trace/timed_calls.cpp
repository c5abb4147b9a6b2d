// Calls whose time `plait bench trace` measures with and without capture.
#include <fcntl.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/errors.hpp"
#include "gil_release.hpp"
#include "module.hpp"
#include "string.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

[[noreturn]] void throw_failed(const std::string& call) {
  base::throw_system_error(0, "plait bench trace: " + call + " did not do what was asked");
}

/// Returns the time in ns of one of `count` calls of one kind on a file that is in the page cache. The calls use the
/// names of the C library, so that a preloaded library intercepts them.
double time_calls(const std::string& call, const std::string& path, std::size_t size, std::size_t count) {
  constexpr std::size_t kTouchedBytes = std::size_t{1} << 20;  // of the file, again and again
  // The alignment of a buffer influences the time to copy it, so it is the same with and without capture.
  constexpr std::size_t kPage = 4096;
  const std::unique_ptr<char, decltype(&std::free)> memory(
      static_cast<char*>(std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage)), &std::free);
  char* const data = memory.get();
  if (data == nullptr) throw_failed("aligned_alloc");
  std::memset(data, 1, size);
  std::FILE* stream = std::fopen(path.c_str(), "r+");
  if (stream == nullptr) throw_failed("fopen");
  const int file = fileno(stream);
  const std::size_t blocks = size >= kTouchedBytes ? 1 : kTouchedBytes / size;
  std::setvbuf(stream, nullptr, _IOFBF, 4096);
  bool has_succeeded = true;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < count && has_succeeded; ++i) {
    const auto offset = static_cast<off_t>(i % blocks * size);
    if (call == "pread") {
      has_succeeded = ::pread(file, data, size, offset) == static_cast<ssize_t>(size);
    } else if (call == "pwrite") {
      has_succeeded = ::pwrite(file, data, size, offset) == static_cast<ssize_t>(size);
    } else if (call == "lseek") {
      has_succeeded = ::lseek(file, offset, SEEK_SET) == offset;
    } else {
      if (offset == 0) has_succeeded = std::fseek(stream, 0, SEEK_SET) == 0 && ::lseek(file, 0, SEEK_SET) == 0;
      if (call == "read") has_succeeded = has_succeeded && ::read(file, data, size) == static_cast<ssize_t>(size);
      if (call == "write") has_succeeded = has_succeeded && ::write(file, data, size) == static_cast<ssize_t>(size);
      if (call == "fread") has_succeeded = has_succeeded && std::fread(data, 1, size, stream) == size;
    }
  }
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  std::fclose(stream);
  if (!has_succeeded) throw_failed(call);
  return time.count() / static_cast<double>(count);
}

}  // namespace

void bind_timed_calls(nb::module_& module) {
  module.def("time_calls", &time_calls, "call"_a, "path"_a, "size"_a, "count"_a, nb::call_guard<GilRelease>());
}

}  // namespace plait::python
