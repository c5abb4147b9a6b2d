// Rates over time from requests.
//
// Problem: a request is one point in time. Its bytes in one bin would make a steady stream of requests look like
// noise.
//
// Idea: the bytes are distributed over the time until the next request, but at most over twice the usual gap, the
// lower quartile of all gaps. Example: requests follow each other every 10 ms, and then there is a pause of 1 s. The
// quartile is 12 ms, the upper end of its class, so that the bytes of the last request before the pause are
// distributed over 24 ms.

#include "trace/report/time/rates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "trace/report/sum.hpp"
#include "trace/report/time/cycles.hpp"

namespace plait::trace::report {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

std::size_t gap_bin(std::int64_t gap) {
  const auto value = static_cast<std::uint64_t>(gap);
  const int bits = static_cast<int>(std::bit_width(value));
  if (bits <= 2) return static_cast<std::size_t>(value);
  return static_cast<std::size_t>(4 * (bits - 2)) + static_cast<std::size_t>(value >> (bits - 3) & 3);
}

std::int64_t bin_begin(std::size_t bin) {
  if (bin < 4) return static_cast<std::int64_t>(bin);
  return static_cast<std::int64_t>((4 + bin % 4) << (bin / 4 - 1));
}

}  // namespace

void Gaps::add(std::int64_t gap) {
  ++counts_[std::min(gap_bin(gap), counts_.size() - 1)];
  if (++count_ < next_update_) return;
  next_update_ = count_ + std::max<std::uint32_t>(1, count_ / 16);
  std::uint64_t remaining = count_ / 4;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    if (counts_[bin] > remaining) {
      quartile_ = bin_begin(bin + 1);
      break;
    }
    remaining -= counts_[bin];
  }
  if (count_ < std::uint32_t{1} << 31) return;
  count_ = 0;  // halves the weight of earlier gaps
  for (std::uint32_t& count : counts_) count_ += count /= 2;
  next_update_ = count_ + count_ / 16;
}

void Rate::add(std::int64_t at, std::int64_t bytes, std::int64_t usual_gap) {
  if (last_request_ >= 0 && at > last_request_) {
    gaps_.add(at - last_request_);
    spread(at, usual_gap);
  }
  last_request_ = std::max(last_request_, at);
  pending_bytes_ += static_cast<double>(bytes);
}

void Rate::finish(std::int64_t at) {
  if (last_request_ >= 0) spread(std::max(at, last_request_ + 1), 0);
  bins_.reach(at);
}

void Rate::spread(std::int64_t to, std::int64_t usual_gap) {
  std::int64_t reach = 2 * gaps_.quartile();
  if (usual_gap > 0 && usual_gap <= reach / 64) reach = 64 * usual_gap;
  const std::int64_t stop = std::min(to, last_request_ + std::max<std::int64_t>(reach, 1));
  const double rate = pending_bytes_ / static_cast<double>(stop - last_request_);
  bins_.spread(last_request_, stop,
               [&](std::size_t bin, std::int64_t part) { bins_.at(0, bin) += rate * static_cast<double>(part); });
  pending_bytes_ = 0;
}

std::vector<double> Rate::values() const {
  const std::vector<double>& sums = bins_.sums(0);
  return {sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(bins_.used_bins())};
}

RatesAnalyser::RatesAnalyser(const Lookup& lookup) : lookup_(lookup) {
  wall_.files.reserve(kFiles);
  cpu_.files.reserve(kFiles);
}

void RatesAnalyser::add(Rates& rates, const Call& call, std::int64_t at, std::size_t file) {
  rates.last = at;
  rates.all.add(at, call.moved, 0);
  rates.directions[static_cast<std::size_t>(call.direction)].add(at, call.moved, rates.all.usual_gap());
  if (file < kFiles) rates.files[file].add(at, call.moved, rates.all.usual_gap());
}

std::size_t RatesAnalyser::file_index(const Call& call) {
  if (call.name == kNoFile) return kFiles;
  if (call.name >= indices_.size()) {
    indices_.resize(lookup_.names(), kNone);
    bytes_.resize(lookup_.names(), 0);
  }
  add_saturated(bytes_[call.name], call.moved);
  if (indices_[call.name] != kNone) return indices_[call.name];
  std::size_t at = names_.size();
  if (at < kFiles) {
    names_.push_back(call.name);
    wall_.files.emplace_back(kFileBins);
    cpu_.files.emplace_back(kFileBins);
  } else {  // a file with more than twice the bytes of the smallest replaces it, as with pictures of offsets
    if (bytes_[call.name] < replacement_bytes_) return kFiles;
    at = 0;
    for (std::size_t other = 1; other < names_.size(); ++other)
      if (bytes_[names_[other]] < bytes_[names_[at]]) at = other;
    replacement_bytes_ = replacement_threshold(bytes_[names_[at]]);
    if (bytes_[call.name] < replacement_bytes_) return kFiles;
    indices_[names_[at]] = kNone;
    names_[at] = call.name;
    wall_.files[at] = Rate(kFileBins);
    cpu_.files[at] = Rate(kFileBins);
  }
  indices_[call.name] = static_cast<std::uint32_t>(at);
  return at;
}

void RatesAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    if (!call.is_data() || call.moved == 0) continue;
    const std::size_t file = file_index(call);
    add(wall_, call, call.start, file);
    if (call.event.cpu < 0) cpu_known_ = false;
    if (cpu_known_) add(cpu_, call, std::max(call.event.cpu, cpu_.last), file);
  }
}

void RatesAnalyser::store_results(Report& report) const {
  const Rates& rates = report.timeline.cpu ? cpu_ : wall_;
  const auto search = [&](const Rate& rate, const std::string& what) {
    Rate whole = rate;
    whole.finish(rates.last);
    for (Cycle cycle : find_cycles(whole.values(), static_cast<double>(whole.width()))) {
      cycle.what = what;
      report.cycles.push_back(std::move(cycle));
    }
  };
  search(rates.all, "all");
  search(rates.directions[kReads], "reads");
  search(rates.directions[kWrites], "writes");
  if (names_.size() > 1)  // the cycles of a single file are those of the total
    for (std::size_t at = 0; at < names_.size(); ++at) search(rates.files[at], lookup_.text(names_[at]));
  // Cycles of about equal strength stay in this order.
  std::stable_sort(report.cycles.begin(), report.cycles.end(), [](const Cycle& a, const Cycle& b) {
    return std::lround(20 * a.strength) > std::lround(20 * b.strength);
  });
}

}  // namespace plait::trace::report
