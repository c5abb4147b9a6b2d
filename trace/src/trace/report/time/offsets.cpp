// Pictures of offsets over time for the files with the most bytes.
//
// At most kMaxEntries files have a picture. The one of them with the fewest bytes is replaced by another file that has
// more than twice as many. The factor limits the number of replacements to the logarithm of the bytes. Example: the
// file with the fewest bytes has 10 MB. Another file gets a picture in its place when it exceeds 20 MB.

#include "trace/report/time/offsets.hpp"

#include <algorithm>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

namespace {
constexpr std::uint32_t kNone = UINT32_MAX;
}

std::size_t OffsetsAnalyser::find_smallest() const {
  std::size_t smallest = 0;
  for (std::size_t at = 1; at < pictures_.size(); ++at)
    if (bytes_[pictures_[at].name] < bytes_[pictures_[smallest].name]) smallest = at;
  return smallest;
}

OffsetsAnalyser::Picture* OffsetsAnalyser::find_picture(const Call& call) {
  if (indices_[call.name] != kNone) return &pictures_[indices_[call.name]];
  if (pictures_.size() < kMaxEntries) {
    indices_[call.name] = static_cast<std::uint32_t>(pictures_.size());
    pictures_.emplace_back();
    pictures_.back().name = call.name;
    return &pictures_.back();
  }
  if (bytes_[call.name] < replacement_bytes_) return nullptr;
  const std::size_t at = find_smallest();
  replacement_bytes_ = replacement_threshold(bytes_[pictures_[at].name]);
  if (bytes_[call.name] < replacement_bytes_) return nullptr;
  indices_[pictures_[at].name] = kNone;
  indices_[call.name] = static_cast<std::uint32_t>(at);
  pictures_[at] = Picture{};
  pictures_[at].name = call.name;
  pictures_[at].since = call.start;
  return &pictures_[at];
}

void OffsetsAnalyser::draw(Picture& picture, const Call& call) {
  const std::int64_t begin = call.event.offset;
  const std::int64_t end = begin + call.moved;
  for (Grid* grid : {&picture.reads, &picture.writes}) {  // both have the same axes
    grid->column(call.start);
    grid->row(end - 1);
  }
  Grid& grid = call.direction == kReads ? picture.reads : picture.writes;
  const std::size_t column = grid.column(call.start);
  for (std::int64_t at = begin; at < end;) {
    const std::size_t row = grid.row(at);
    const std::int64_t stop = std::min(grid.rows().begin(row + 1), end);
    add_saturated(grid.cell(row, column), stop - at);
    at = stop;
  }
}

void OffsetsAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    last_start_ = std::max(last_start_, call.start);
    if (!call.is_data() || call.name == kNoFile || call.event.offset < 0 || call.moved == 0) continue;
    if (call.name >= indices_.size()) {
      indices_.resize(lookup_.names(), kNone);
      bytes_.resize(lookup_.names(), 0);
    }
    add_saturated(bytes_[call.name], call.moved);
    if (Picture* current = find_picture(call)) draw(*current, call);
  }
}

void OffsetsAnalyser::store_results(Report& report) const {
  std::vector<const Picture*> order;
  for (const Picture& picture : pictures_) order.push_back(&picture);
  std::stable_sort(order.begin(), order.end(),
                   [&](const Picture* a, const Picture* b) { return bytes_[a->name] > bytes_[b->name]; });
  if (order.size() > kMaxReported) order.resize(kMaxReported);
  for (const Picture* picture : order) {
    Grid reads = picture->reads;
    Grid writes = picture->writes;
    reads.column(last_start_);  // all pictures end at the end of the trace
    writes.column(last_start_);
    Offsets result;
    result.file = lookup_.text(picture->name);
    result.since = picture->since;
    result.width = reads.columns().width();
    result.height = reads.rows().width();
    const std::size_t columns = reads.used_columns();
    const std::size_t rows = reads.used_rows();
    result.columns = static_cast<std::int64_t>(columns);
    result.rows = static_cast<std::int64_t>(rows);
    result.bytes[kReads] = reads.used_cells(rows, columns);
    result.bytes[kWrites] = writes.used_cells(rows, columns);
    report.offsets.push_back(std::move(result));
  }
}

}  // namespace plait::trace::report
