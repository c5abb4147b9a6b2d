/// Rates over time for the search for cycles: of everything, of reads, of writes, and of the files with the most
/// bytes.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "trace/report/call.hpp"
#include "trace/report/lookup.hpp"
#include "trace/report/time/bins.hpp"

namespace plait::trace::report {

/// The gaps between requests, and their lower quartile.
class Gaps {
 public:
  void add(std::int64_t gap);
  std::int64_t quartile() const { return quartile_; }

 private:
  std::array<std::uint32_t, 256> counts_{};  // four classes for each power of two
  std::uint32_t count_ = 0;
  std::uint32_t next_update_ = 1;  // count at which the quartile is computed again
  std::int64_t quartile_ = 0;
};

/// A rate of bytes. The bytes of a request are distributed over the time until the next one, but at most over twice
/// the usual gap between two. A steady stream of requests is thus a steady rate, and a pause stays a pause.
class Rate {
 public:
  explicit Rate(std::size_t bins) : bins_(bins, 1) {}
  /// usual  the usual gap between requests in the total rate; a gap of more than 64 times this is a pause. 0: unknown.
  void add(std::int64_t at, std::int64_t bytes, std::int64_t usual_gap);
  void finish(std::int64_t at);
  std::int64_t usual_gap() const { return gaps_.quartile(); }
  std::int64_t width() const { return bins_.width(); }
  std::vector<double> values() const;

 private:
  void spread(std::int64_t to, std::int64_t usual_gap);

  Bins<double> bins_;
  Gaps gaps_;
  std::int64_t last_request_ = -1;
  double pending_bytes_ = 0;  // bytes of the requests at last_request_
};

/// Rates over wall time and over CPU time.
/// memory  1 MiB, and 64 KiB for each file with a rate.
class RatesAnalyser final : public Analyser {
 public:
  static constexpr std::size_t kBins = 16384;
  static constexpr std::size_t kFileBins = 4096;
  static constexpr std::size_t kFiles = 32;

  explicit RatesAnalyser(const Lookup& lookup);
  void add(std::span<const Call> calls) override;
  void store_results(Report& report) const override;

 private:
  struct Rates {
    Rate all{kBins};
    std::array<Rate, 2> directions{Rate{kBins}, Rate{kBins}};
    std::vector<Rate> files;
    std::int64_t last = 0;
  };
  void add(Rates& rates, const Call& call, std::int64_t at, std::size_t file);
  std::size_t file_index(const Call& call);

  const Lookup& lookup_;
  Rates wall_;
  Rates cpu_;
  bool cpu_known_ = true;
  std::vector<std::uint32_t> indices_;  // index of the file for each name
  std::vector<std::int64_t> bytes_;     // one entry for each name
  std::vector<std::uint32_t> names_;    // one entry for each file
  std::int64_t replacement_bytes_ = 0;
};

}  // namespace plait::trace::report
