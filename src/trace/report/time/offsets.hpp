/// Offsets in a file against time.
#pragma once

#include <memory>
#include <vector>

#include "trace/report/call.hpp"
#include "trace/report/lookup.hpp"
#include "trace/report/time/bins.hpp"

namespace plait::trace::report {

/// One pass does not know which files will be the heaviest: kKept files have a picture, the first ones at first; a file
/// with twice the bytes of the lightest of them takes its place, and its picture begins then.
/// memory  128 KiB a picture, 12 bytes a name.
class OffsetsAnalyser final : public Analyser {
 public:
  static constexpr std::size_t kKept = 32;
  static constexpr std::size_t kShown = 12;
  static constexpr std::size_t kColumns = 128;
  static constexpr std::size_t kRows = 64;

  explicit OffsetsAnalyser(const Lookup& lookup) : lookup_(lookup) {}
  void add(std::span<const Call> calls) override;
  void result(Report& report) const override;

 private:
  struct Picture {
    std::uint32_t name = 0;
    std::int64_t since = 0;
    Grid reads{kColumns, kRows};
    Grid writes{kColumns, kRows};
  };
  Picture* picture(const Call& call);
  static void draw(Picture& picture, const Call& call);
  std::size_t lightest() const;

  const Lookup& lookup_;
  std::vector<Picture> pictures_;
  std::vector<std::uint32_t> indices_;  // of names, in pictures_
  std::vector<std::int64_t> bytes_;     // of names
  std::int64_t enough_ = 0;             // bytes with which a file may take another's place
  std::int64_t last_ = 0;
};

}  // namespace plait::trace::report
