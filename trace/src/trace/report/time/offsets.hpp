/// Offsets in files over time.
#pragma once

#include <memory>
#include <vector>

#include "trace/report/call.hpp"
#include "trace/report/lookup.hpp"
#include "trace/report/time/bins.hpp"

namespace plait::trace::report {

/// One pass cannot know the files with the most bytes in advance. kMaxEntries files have a picture, at first the first
/// ones. A file with more than twice the bytes of the smallest of them replaces it, and its picture begins then.
/// memory  128 KiB a picture, 12 bytes a name.
class OffsetsAnalyser final : public Analyser {
 public:
  static constexpr std::size_t kMaxEntries = 32;
  static constexpr std::size_t kMaxReported = 12;
  static constexpr std::size_t kColumns = 128;
  static constexpr std::size_t kRows = 64;

  explicit OffsetsAnalyser(const Lookup& lookup) : lookup_(lookup) {}
  void add(std::span<const Call> calls) override;
  void store_results(Report& report) const override;

 private:
  struct Picture {
    std::uint32_t name = 0;
    std::int64_t since = 0;
    Grid reads{kColumns, kRows};
    Grid writes{kColumns, kRows};
  };
  Picture* find_picture(const Call& call);
  static void draw(Picture& picture, const Call& call);
  std::size_t find_smallest() const;

  const Lookup& lookup_;
  std::vector<Picture> pictures_;
  std::vector<std::uint32_t> indices_;  // index in pictures_ for each name
  std::vector<std::int64_t> bytes_;     // one entry for each name
  std::int64_t replacement_bytes_ = 0;  // bytes with which a file may replace another
  std::int64_t last_start_ = 0;
};

}  // namespace plait::trace::report
