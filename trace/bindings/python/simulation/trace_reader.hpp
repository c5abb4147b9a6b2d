/// A plait.trace.Trace as a reader. With it a replay accepts every format, also compressed ones and those that are read
/// in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "plait/trace.hpp"
#include "string.hpp"

namespace plait::python {

/// Reads a plait.trace.Trace.
/// threads  Only with the interpreter's lock.
class PythonTrace final : public trace::Reader {
 public:
  explicit PythonTrace(nanobind::object trace) : trace_(std::move(trace)) {}

  std::size_t read(std::span<trace::Event> output) override {
    if (returned_ == batch_events_) {
      batch_ = trace_.attr("read")(kBatchEvents);
      batch_events_ = nanobind::len(batch_);
      returned_ = 0;
      add_new_descriptions();
      if (batch_events_ == 0) finish();
    }
    const std::size_t count = std::min(output.size(), batch_events_ - returned_);
    if (count == 0) return 0;
    const auto address = nanobind::cast<std::uintptr_t>(batch_.attr("ctypes").attr("data"));
    std::memcpy(output.data(), reinterpret_cast<const trace::Event*>(address) + returned_,
                count * sizeof(trace::Event));
    returned_ += count;
    return count;
  }

  const trace::Description& description() const override { return description_; }
  std::int64_t bytes_read() const override { return progress(0); }
  std::int64_t bytes_in_all() const override { return progress(1); }

 private:
  static constexpr int kBatchEvents = 1 << 16;

  std::int64_t progress(int index) const { return nanobind::cast<std::int64_t>(trace_.attr("progress")[index]); }

  /// Adds the processes and files that have become known since the last call.
  void add_new_descriptions() {
    const auto described = nanobind::cast<nanobind::tuple>(
        trace_.attr("described_after")(description_.processes.size(), description_.files.size()));
    for (const nanobind::handle row : described[0]) {
      trace::Process process;
      process.number = nanobind::cast<std::uint32_t>(row.attr("number"));
      process.parent = nanobind::cast<std::uint32_t>(row.attr("parent"));
      process.rank = nanobind::cast<std::int64_t>(row.attr("rank"));
      process.command = nanobind::cast<std::string>(row.attr("command"));
      description_.processes.push_back(process);
    }
    for (const nanobind::handle row : described[1])
      description_.files.push_back({nanobind::cast<std::uint32_t>(row.attr("process")),
                                    nanobind::cast<std::uint32_t>(row.attr("number")),
                                    nanobind::cast<std::string>(row.attr("name"))});
  }

  void finish() {
    const nanobind::object trace_description = trace_.attr("description");
    description_.complete = nanobind::cast<bool>(trace_description.attr("complete"));
    for (const nanobind::handle gap : trace_description.attr("missed"))
      description_.missed.push_back({{}, nanobind::cast<std::int64_t>(gap.attr("events")), 0, 0});
    description_.counters.resize(nanobind::len(nanobind::object(trace_description.attr("counters"))));
    // The ranks of processes may become known only after the events, so read all processes again.
    description_.processes.clear();
    description_.files.clear();
    add_new_descriptions();
  }

  nanobind::object trace_;
  nanobind::object batch_;
  std::size_t batch_events_ = 0;
  std::size_t returned_ = 0;  ///< events of the batch that read() has returned
  trace::Description description_;
};

}  // namespace plait::python
