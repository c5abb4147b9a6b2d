// The figures of the seven programs. include/plait/workloads.hpp states where they come from.

#include "trace/workloads1992/spec.hpp"

#include <algorithm>
#include <array>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::trace {

namespace {

constexpr std::int64_t kKiB = 1024;

// The counts of requests are those of table 1, divided into reads and writes by the rates of table 2. The totals of
// table 1 are 3 to 8 % above those that follow from the rates and sizes of table 2. The sizes of requests here are
// between those of the two tables, so that the workload agrees with each figure of both within 5 %. Sizes are multiples
// of sectors of 512 bytes. Files are as large as the data of table 1, which one pass of writes covers.
constexpr std::array<Spec, 7> kSpecs{{
    {.about = {"bvi", "helicopter blade and vortex", "staging on the solid-state disk, small requests", 1258, 171,
               22835, 1380457, 12.3, 5.34, 913, 185, 16.1, 2.31, 39, 32.0},
     .reads = 1147867,
     .writes = 232590,
     .read_bytes = 28 * 512,
     .write_bytes = 59 * 512,
     .files = 4,
     .file_writes = 1485,
     .stages = 16,
     .burst = 65,
     .jitter = 200,
     .solid_state = true},
    {.about = {"ccm", "climate", "staging, moderate", 205, 11.6, 1812, 54125, 4.25, 3.96, 135, 128, 31.9, 1.07, 70,
               2.93},
     .reads = 27783,
     .writes = 26342,
     .read_bytes = 33 * kKiB,
     .write_bytes = 33 * kKiB,
     .files = 2,
     .file_writes = 180,
     .stages = 2,
     .burst = 250,
     .jitter = 200},
    {.about = {"forma", "structural dynamics", "staging of sparse blocks, each read eleven times", 206, 30, 15155,
               475826, 62.2, 5.68, 1990, 300, 30.4, 11.0, 39, 5.28},
     .reads = 413491,
     .writes = 62335,
     .read_bytes = 33 * kKiB,
     .write_bytes = 20 * kKiB,
     .files = 1,
     .file_writes = 1536,
     .stages = 11,
     .burst = 310,
     .jitter = 200,
     .empty_interval = 8},
    {.about = {"gcm", "global climate", "reads its state, writes results as it goes", 1897, 229, 266.2, 7953, .0107,
               .12, .34, 3.85, 31.9, .089, 0, 0},
     .reads = 645,
     .writes = 7308,
     .read_bytes = 33 * kKiB,
     .write_bytes = 33 * kKiB,
     .files = 10,
     .file_writes = 741,
     .stages = 1,
     .burst = 1000,
     .jitter = 500,
     .writes_in_between = 6663},
    {.about = {"les", "large eddies", "staging, asynchronous, large sequential requests", 146, 224, 7803, 22384, 24.0,
               25.2, 74, 81, 325, .95, 16, 8.9},
     .reads = 10687,
     .writes = 11697,
     .read_bytes = 346 * kKiB,
     .write_bytes = 335 * kKiB,
     .files = 2,
     .file_writes = 342,
     .stages = 4,
     .burst = 235,
     .jitter = 200,
     .asynchronous = true},
    {.about = {"upw", "polynomial factorization", "reads its input, writes its answer", 596, 58.6, 61.5, 1840, .0012,
               .1, .037, 3.05, 32.7, .012, 0, 0},
     .reads = 22,
     .writes = 1818,
     .read_bytes = 67 * 512,
     .write_bytes = 67 * 512,
     .files = 1,
     .file_writes = 1818,
     .stages = 1,
     .burst = 1000,
     .jitter = 200},
    {.about = {"venus", "atmosphere of Venus", "staging around six small files", 379, 55.2, 16712, 34904, 26.4, 14.7,
               60, 32, 456, 1.80, 101, 3.75},
     .reads = 22763,
     .writes = 12141,
     .read_bytes = 468 * kKiB,
     .write_bytes = 482 * kKiB,
     .files = 6,
     .file_writes = 20,
     .stages = 4,
     .burst = 400,
     .jitter = 200,
     .interleaved = true},
}};

constexpr auto kAbout = [] {
  std::array<Workload, kSpecs.size()> all{};
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = kSpecs[k].about;
  return all;
}();

}  // namespace

std::span<const Workload> workloads() { return kAbout; }

const Spec& find_spec(std::string_view name) {
  const auto spec =
      std::find_if(kSpecs.begin(), kSpecs.end(), [&](const Spec& candidate) { return candidate.about.name == name; });
  if (spec != kSpecs.end()) return *spec;
  std::string names;
  for (const Spec& candidate : kSpecs) names += base::text(names.empty() ? "" : ", ", candidate.about.name);
  base::throw_argument_error("there is no workload '", name, "'; use one of: ", names);
}

}  // namespace plait::trace
