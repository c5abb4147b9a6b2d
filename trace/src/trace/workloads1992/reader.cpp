// Reads a workload as a trace: merges the events of all copies of its program by their start times.

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/workloads.hpp"
#include "trace/workloads1992/program.hpp"
#include "trace/workloads1992/spec.hpp"

namespace plait::trace {

namespace {

constexpr std::string_view kScheme = "workload:";
constexpr int kMaxCopies = 4096;
constexpr std::int64_t kMaxLastStart = std::int64_t{1} << 40;  // in us: latest start of the last copy

class WorkloadReader final : public Reader {
 public:
  WorkloadReader(const Spec& spec, const WorkloadOptions& options) : spec_(spec), copies_(options.copies) {
    base::RandomBits random(options.seed);
    // Starts are distributed over a cycle, or over ten seconds if there are none.
    const std::int64_t spread = spec.about.cycles > 0 ? spec.cpu() / spec.about.cycles : 10'000'000;
    std::vector<std::int64_t> starts{0};
    for (int copy = 1; copy < options.copies; ++copy)
      starts.push_back(options.offset == kUnknown ? random.below(spread) : options.offset / 1000 * copy);
    for (int copy = 0; copy < options.copies; ++copy) {
      const auto number = static_cast<std::uint32_t>(copy + 1);
      programs_.emplace_back(spec, random.next(), number, starts[static_cast<std::size_t>(copy)], options.burst);
      queue_.push({programs_.back().event().start, number - 1});
      description_.processes.push_back({.number = number,
                                        .parent = 0,
                                        .rank = -1,
                                        .host = "",
                                        .command = std::string(spec.about.name),
                                        .cpu = spec.cpu() * 1000});
      for (File& file : programs_.back().files()) description_.files.push_back(std::move(file));
    }
    description_.format = "workload";
    description_.tick = 1000;
    description_.notes.push_back(
        base::text("made by Plait after the tables of Miller's paper of 1992: ", spec.about.name, ", ",
                   spec.about.field, "; seed ", options.seed, ", copies ", options.copies));
  }

  std::size_t read(std::span<Event> output) override {
    std::size_t filled = 0;
    while (filled < output.size() && !queue_.empty()) {
      const auto [start, index] = queue_.top();
      Program& program = programs_[index];
      output[filled++] = program.event();
      program.advance();
      if (program.has_ended() && programs_.size() == 1) {
        queue_.pop();
      } else if (programs_.size() > 1) {
        queue_.pop();
        if (!program.has_ended()) queue_.push({program.event().start, index});
      }
    }
    events_read_ += static_cast<std::int64_t>(filled);
    return filled;
  }

  const Description& description() const override { return description_; }
  // For progress: events instead of bytes.
  std::int64_t bytes_read() const override { return std::min(events_read_, bytes_in_all()); }
  std::int64_t bytes_in_all() const override { return spec_.about.requests * copies_; }

 private:
  struct NextEvent {
    std::int64_t start;
    std::size_t program;
    bool operator>(const NextEvent& other) const {
      return start != other.start ? start > other.start : program > other.program;
    }
  };

  const Spec& spec_;
  int copies_;
  std::vector<Program> programs_;
  std::priority_queue<NextEvent, std::vector<NextEvent>, std::greater<>> queue_;
  std::int64_t events_read_ = 0;
  Description description_;
};

/// Converts the value of the option `key` in a workload's name.
template <typename Number>
Number parse_option(std::string_view key, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    base::throw_argument_error("in a workload's name, ", key, "= is followed by '", text, "'; expected a number");
  return value;
}

}  // namespace

std::unique_ptr<Reader> workload(std::string_view name, const WorkloadOptions& options) {
  const Spec& spec = find_spec(name);
  const auto fail = [&](std::string_view what, auto value, std::string_view range) {
    base::throw_argument_error("a workload's ", what, " is ", range, ", not ", value);
  };
  if (options.copies < 1 || options.copies > kMaxCopies) fail("number of copies", options.copies, "from 1 to 4096");
  if (options.burst < 0 || options.burst > 1000) fail("burst", options.burst, "from 1 to 1000 thousandths of a cycle");
  if (options.offset != kUnknown && (options.offset < 0 || options.offset / 1000 > kMaxLastStart / options.copies))
    fail("offset", options.offset, base::text("from 0 ns to ", kMaxLastStart / options.copies * 1000 + 999, " ns"));
  return std::make_unique<WorkloadReader>(spec, options);
}

bool is_workload(std::string_view url) { return url.starts_with(kScheme); }

std::unique_ptr<Reader> open_workload(std::string_view url) {
  if (!is_workload(url))
    base::throw_argument_error("'", url, "' is not the name of a workload; such names begin with ", kScheme);
  std::string_view rest = url.substr(kScheme.size());
  const std::size_t mark = std::min(rest.find('?'), rest.size());
  const std::string_view name = rest.substr(0, mark);
  rest.remove_prefix(std::min(mark + 1, rest.size()));
  WorkloadOptions options;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(std::min(equals + 1, word.size()));
    if (key == "seed") {
      options.seed = parse_option<std::uint64_t>(key, value);
    } else if (key == "copies") {
      options.copies = parse_option<int>(key, value);
    } else if (key == "burst") {
      options.burst = parse_option<int>(key, value);
      if (options.burst == 0)
        base::throw_argument_error("a workload's burst is from 1 to 1000 thousandths of a cycle, not 0");
    } else if (key == "offset") {
      const double seconds = parse_option<double>(key, value);
      if (!(seconds >= 0 && seconds <= 1e6))
        base::throw_argument_error("a workload's offset is from 0 to 1000000 seconds, not ", seconds);
      options.offset = static_cast<std::int64_t>(seconds * 1e6 + 0.5) * 1000;
    } else {
      base::throw_argument_error("a workload has no '", key, "'; known are seed, copies, offset, burst");
    }
  }
  return workload(name, options);
}

}  // namespace plait::trace
