#include "transport/local/job.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::transport::local {

namespace {

constexpr std::string_view kAdvice =
    "; start the processes with plait run, or give each of them PLAIT_JOB (a name of your choice, the same for all), "
    "PLAIT_SIZE (how many they are) and PLAIT_RANK (0, 1, ..., another one for each)";

[[noreturn]] void throw_invalid_job(const std::string& what) { base::throw_argument_error(what, kAdvice); }

/// Returns the value of an environment variable; empty if it is not set.
std::string_view setting(const char* name) {
  const char* const found = std::getenv(name);
  return found == nullptr ? std::string_view() : std::string_view(found);
}

int parse_setting(const char* name, int min, int max) {
  const std::string_view text = setting(name);
  if (text.empty()) throw_invalid_job(base::text("PLAIT_SIZE is set, but ", name, " is not"));
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max)
    throw_invalid_job(base::text(name, " is '", text, "', and must be a number from ", min, " to ", max));
  return value;
}

}  // namespace

std::optional<Job> job_from_environment() {
  if (setting("PLAIT_SIZE").empty()) {
    if (!setting("PLAIT_RANK").empty()) throw_invalid_job("PLAIT_RANK is set, but PLAIT_SIZE is not");
    return std::nullopt;
  }
  Job job;
  job.size = parse_setting("PLAIT_SIZE", 1, kMaxProcesses);
  job.rank = parse_setting("PLAIT_RANK", 0, job.size - 1);
  job.name = setting("PLAIT_JOB");
  if (job.name.empty()) throw_invalid_job("PLAIT_SIZE is set, but PLAIT_JOB is not");
  // Rendezvous makes a file of this name with a suffix, for which 32 bytes are more than enough.
  constexpr std::size_t kMaxName = NAME_MAX - 32;
  const bool is_invalid =
      job.name.front() == '.' || job.name.size() > kMaxName ||
      std::ranges::any_of(job.name, [](char c) { return c == '/' || static_cast<unsigned char>(c) < ' '; });
  if (is_invalid)
    throw_invalid_job(base::text("PLAIT_JOB is '", job.name, "', and must be a name of at most ", kMaxName,
                                 " characters, without '/' and with no '.' in front"));
  return job;
}

}  // namespace plait::transport::local
