// Runs the target on mutated inputs, for compilers without libFuzzer.  If the library is compiled with
// -fsanitize-coverage=trace-pc, inputs that reach new branches are added to the corpus and mutated further.
//
// usage: plait_fuzz [--seconds S] [--executions N] [--seed N] [--corpus FOLDER] NAME...
//        plait_fuzz NAME FILE     runs one input
//        plait_fuzz list          prints the names
#include <malloc.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "mutate.hpp"
#include "received.hpp"
#include "target.hpp"

namespace {

// A branch is a pair of successive jumps, as in AFL, hashed to a slot.
constexpr std::size_t kBranches = std::size_t{1} << 16;
std::array<std::uint8_t, kBranches> counts;          // how often the current execution has reached each slot
std::array<std::uint8_t, kBranches> all_magnitudes;  // a bit for each magnitude of that count in any execution
std::array<std::uint32_t, kBranches> used_slots;     // the slots of `counts` that are not 0
std::size_t used_slot_count = 0;
std::uintptr_t last_branch = 0;

std::string current_input;
std::string current_name;  // of the kind of message

/// Writes the current input, which has failed, to a file.
void save_failing_input() {
  const std::string path = "fuzz-failure-" + current_name;
  std::ofstream(path, std::ios::binary) << current_input;
  std::fprintf(stderr, "fuzz: the input of %zu bytes is in %s\n", current_input.size(), path.c_str());
}

extern "C" void on_signal(int number) {
  if (number == SIGVTALRM) std::fprintf(stderr, "fuzz: %s does not end\n", current_name.c_str());
  save_failing_input();
  std::_Exit(3);
}

constexpr int kMaxSeconds = 20;  // of processor time for one input of the corpus, or for 1024 mutated ones

/// Ends the program after `seconds` of its own processor time; elapsed time would also end it on a busy machine.
void limit_time(int seconds) {
  const itimerval limit{{0, 0}, {seconds, 0}};
  (void)setitimer(ITIMER_VIRTUAL, &limit, nullptr);
}

/// Returns true if the last execution has reached a branch with a new magnitude of its count. Resets the counts.
bool collect_new_branches() {
  bool has_new = false;
  for (std::size_t i = 0; i < used_slot_count; ++i) {
    std::uint8_t& count = counts[used_slots[i]];
    // The largest power of two up to the count: 1, 2, 4, … 128.
    const unsigned magnitude = 1U << (31 - __builtin_clz(count));
    std::uint8_t& known = all_magnitudes[used_slots[i]];
    has_new = has_new || (known & magnitude) == 0;
    known = static_cast<std::uint8_t>(known | magnitude);
    count = 0;
  }
  used_slot_count = 0;
  return has_new;
}

struct Settings {
  double seconds = 10;
  std::uint64_t executions = UINT64_MAX;
  std::uint64_t seed = 1;
  std::string corpus;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Adds the inputs of the folder with this name, an empty input, and the valid inputs that the kind makes itself.
void add_first_inputs(const std::string& name, const Settings& settings, plait::fuzz::Corpus& corpus) {
  const std::filesystem::path folder = std::filesystem::path(settings.corpus) / name;
  if (!settings.corpus.empty() && std::filesystem::is_directory(folder)) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) corpus.add(read_file(path));
  }
  corpus.add("");
  for (const plait::fuzz::MessageKind& kind : plait::fuzz::message_kinds()) {
    if (kind.name != name) continue;
    for (std::string& input : kind.valid_inputs()) corpus.add(std::move(input));
    return;
  }
}

void execute(const std::string& input) {
  current_input = input;
  last_branch = 0;
  (void)LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current_input.data()), current_input.size());
}

/// Runs the inputs of the corpus, and then mutated ones until the time or the number of executions is used up.
void fuzz(const std::string& name, const Settings& settings) {
  current_name = name;
  all_magnitudes.fill(0);
  plait::fuzz::Corpus corpus(settings.seed);
  add_first_inputs(name, settings, corpus);
  const double begin = now();
  std::uint64_t executions = 0;
  for (; executions < corpus.size() && executions < settings.executions; ++executions) {
    limit_time(kMaxSeconds);
    execute(corpus.input(executions));
    (void)collect_new_branches();
  }
  while (executions < settings.executions && (executions % 64 != 0 || now() - begin < settings.seconds)) {
    if (executions % 1024 == 0) limit_time(kMaxSeconds);
    execute(corpus.make_mutated());
    ++executions;
    if (collect_new_branches()) corpus.add(current_input);
  }
  limit_time(0);
  const auto branches =
      kBranches - static_cast<std::size_t>(std::count(all_magnitudes.begin(), all_magnitudes.end(), 0));
  const double seconds = now() - begin;
  std::printf("fuzz: %-12s %12llu executions in %8.1f s, %8.0f a second; %5zu inputs, %6zu branches; nothing failed\n",
              name.c_str(), static_cast<unsigned long long>(executions), seconds,
              static_cast<double>(executions) / seconds, corpus.size(), branches);
  std::fflush(stdout);
}

}  // namespace

// Called at every jump of code compiled with coverage.
extern "C" void __sanitizer_cov_trace_pc();
extern "C" void __sanitizer_cov_trace_pc() {
  const auto branch = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const auto hash = (branch ^ (branch >> 16)) * 0x9e3779b1U;
  const std::size_t slot = (hash ^ last_branch) % kBranches;
  std::uint8_t& count = counts[slot];
  if (count == 0) used_slots[used_slot_count++] = static_cast<std::uint32_t>(slot);
  if (count < 255) ++count;
  last_branch = hash >> 1;  // shifted, so that a jump from A to B and one from B to A have different slots
}

#if defined(PLAIT_SANITIZE_ADDRESS)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

int main(int count, char** arguments) {
  Settings settings;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const std::string value = i + 1 < count ? arguments[i + 1] : "";
    if (argument == "--seconds" || argument == "--executions" || argument == "--seed" || argument == "--corpus") ++i;
    if (argument == "--seconds")
      settings.seconds = std::atof(value.c_str());
    else if (argument == "--executions")
      settings.executions = std::strtoull(value.c_str(), nullptr, 10);
    else if (argument == "--seed")
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (argument == "--corpus")
      settings.corpus = value;
    else
      names.push_back(argument);
  }
  // Every execution allocates and frees large buffers; do not return their memory to the system each time.
  (void)mallopt(M_MMAP_THRESHOLD, 1 << 30);
  (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
  for (const int number : {SIGVTALRM, SIGILL, SIGTRAP, SIGABRT}) (void)std::signal(number, on_signal);
#if defined(PLAIT_SANITIZE_ADDRESS)
  __sanitizer_set_death_callback(save_failing_input);
#else
  (void)std::signal(SIGSEGV, on_signal);
#endif
  if (names.size() == 2 && std::filesystem::is_regular_file(names[1])) {
    current_name = names[0];
    if (!plait::fuzz::select_kind(names[0])) return 2;
    execute(read_file(names[1]));
    std::printf("fuzz: nothing failed\n");
    return 0;
  }
  if (names.empty()) names = plait::fuzz::names();
  if (names.size() == 1 && names[0] == "list") {
    for (const std::string& name : plait::fuzz::names()) std::printf("%s\n", name.c_str());
    return 0;
  }
  for (const std::string& name : names) {
    if (!plait::fuzz::select_kind(name)) {
      std::fprintf(stderr, "fuzz: there is no reader of '%s'\n", name.c_str());
      return 2;
    }
    fuzz(name, settings);
  }
  return 0;
}
