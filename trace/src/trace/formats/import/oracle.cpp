// Reads the binary traces of object caches that libCacheSim calls oracleGeneral.

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "trace/formats/import/block.hpp"
#include "trace/formats/import/import.hpp"
#include "trace/words.hpp"

namespace plait::trace {

namespace {

// struct { u32 time in s; u64 object; u32 bytes; i64 next; }, packed, little-endian: libCacheSim's
// traceReader/customizedReader/oracle/oracleGeneralBin.h. `next` is the number of the next request for the same
// object; -1 or the maximum means that there is none.
class OracleReader final : public Import {
 public:
  OracleReader(std::unique_ptr<Source> source, const ReadOptions& options)
      : Import(std::move(source), "oracle-general", /*slack=*/0, /*window=*/0),
        tick_(options.tick > 0 ? options.tick : 1'000'000'000) {
    description_.tick = tick_;
    add_process(1);
    description_.files.push_back({1, 1, "objects"});
  }

  static constexpr std::size_t kRecordBytes = 24;

 private:
  // Objects have no offsets. Object N begins at N MiB, so that objects of usual sizes do not overlap.
  static constexpr int kSlotBits = 20;
  static constexpr int kObjectBits = 40;

  bool advance() override {
    const std::string_view record = source().take(kRecordBytes);
    if (record.size() < kRecordBytes) {
      if (!record.empty()) {
        description_.complete = false;
        note(base::text("the last record is cut off after ", record.size(), " bytes of ", kRecordBytes));
      }
      return false;
    }
    Event event;
    const std::int64_t time = std::int64_t{get<std::uint32_t>(record, 0)} * std::min(tick_, kMaxValue >> 32);
    std::uint64_t object = get<std::uint64_t>(record, 4);
    if (object >> kObjectBits != 0) {
      ++hashed_objects_;
      object = (object ^ (object >> 32)) * 0x9e3779b97f4a7c15u >> (64 - kObjectBits);
    }
    if (operations_ == 0) first_time_ = time;
    event.start = std::max<std::int64_t>(time - first_time_, 0);
    event.process = event.thread = event.file = 1;
    event.offset = static_cast<std::int64_t>(object << kSlotBits);
    event.length = event.result = get<std::uint32_t>(record, 12);
    event.operation = ++operations_;
    put(event);
    return true;
  }

  void finish() override {
    note(
        "objects of a cache have no offsets and this format no kind of access: "
        "each request is shown as a read, object N as the bytes from N MiB on in one file; "
        "how long requests took is not known");
    if (hashed_objects_ > 0)
      note(count_text(hashed_objects_, "request is for an object of 2^40 and above, whose number was hashed",
                      "requests are for objects of 2^40 and above, whose numbers were hashed"));
  }

  std::int64_t tick_;
  std::int64_t first_time_ = 0;
  std::int64_t hashed_objects_ = 0;
  std::uint64_t operations_ = 0;
};

/// Requires that times do not decrease, that each `next` is a later request, and that at least one is not simply the
/// following request.
bool recognise(std::string_view head) {
  const std::size_t records = head.size() / OracleReader::kRecordBytes;
  if (records < 2) return false;
  std::uint32_t last_time = 0;
  bool has_distant_next = false;
  for (std::size_t k = 0; k < records; ++k) {
    const std::string_view record = head.substr(k * OracleReader::kRecordBytes, OracleReader::kRecordBytes);
    const auto time = get<std::uint32_t>(record, 0);
    const auto next = static_cast<std::int64_t>(get<std::uint64_t>(record, 16));
    const bool is_last = next == -1 || next == std::numeric_limits<std::int64_t>::max();
    if (time < last_time || (!is_last && (next <= static_cast<std::int64_t>(k) || next >> 40 != 0))) return false;
    last_time = time;
    has_distant_next = has_distant_next || is_last || next > static_cast<std::int64_t>(k) + 1;
  }
  return has_distant_next;
}

std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions& options) {
  return std::make_unique<OracleReader>(std::move(source), options);
}

}  // namespace

Format oracle_general_format() {
  return {.name = "oracle-general", .suffix = "", .recognise = recognise, .open = open};
}

}  // namespace plait::trace
