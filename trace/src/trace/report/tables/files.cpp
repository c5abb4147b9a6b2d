// Statistics of each file in bounded memory.
//
// If there are more than `kept_` files, those with the most bytes stay, and the sums of the others are added to
// `left_out_`. Example: with a limit of 4 and files of 1, 5, 7 and 9 MiB, the median is 7 MiB. The files of 1, 5 and
// 7 MiB are removed, and a new file gets a free row.

#include "trace/report/tables/files.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "trace/report/sum.hpp"
#include "trace/report/tables/classes.hpp"

namespace plait::trace::report {

namespace {

std::int64_t total_bytes(const FileRow& row) { return together(row.data[kReads].bytes, row.data[kWrites].bytes); }

void count(Order& order, Sequence sequence) {
  if (sequence == Sequence::kConsecutive) ++order.consecutive;
  if (sequence == Sequence::kSequential) ++order.sequential;
  if (sequence == Sequence::kRandom) ++order.random;
}

}  // namespace

FilesAnalyser::State& FilesAnalyser::state(const Call& call) {
  if (call.name >= rows_of_.size()) {
    rows_of_.resize(lookup_.names(), kNever);
    extents_.resize(lookup_.names(), 0);
  }
  std::uint32_t at = rows_of_[call.name];
  if (at < kLeftOut) return states_[at];
  const bool again = at < kNever;
  if (again) {  // no longer counted as left out
    const std::uint32_t mark = at - kLeftOut;
    --left_out_.files;
    --classes_left_out_[mark / 2].files;
    in_parts_ += mark % 2 == 0 ? 1 : 0;
  }
  if (states_.size() >= kept_) remove_rows();
  at = static_cast<std::uint32_t>(states_.size());
  rows_of_[call.name] = at;
  State& fresh = states_.emplace_back();
  fresh.name = call.name;
  fresh.again = again;
  fresh.row.begin = call.start;
  return fresh;
}

void FilesAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    if (call.name == kNoFile || !(call.is_data() || call.opens)) continue;
    State& file = state(call);
    FileRow& row = file.row;
    row.end = std::max(row.end, call.end);
    row.opens += call.opens ? 1 : 0;
    row.processes += call.first_of_pair ? 1 : 0;
    if (!call.is_data()) continue;
    const auto way = static_cast<std::size_t>(call.direction);
    ++row.data[way].count;
    grow(row.data[way].bytes, call.moved);
    grow(row.time[way], call.end - call.start);
    count(row.order[way], call.sequence);
    if (call.event.offset >= 0 && call.moved > 0) {
      row.extent = std::max(row.extent, call.event.offset + call.moved);
      extents_[call.name] = std::max(extents_[call.name], row.extent);
    }
    if (call.direction == kWrites) {
      add_write(file, call);
    } else {
      if (file.written >= 0) grow(row.read_back, call.moved);
      row.alternations += file.wrote_last ? 1 : 0;
    }
    file.wrote_last = call.direction == kWrites;
  }
}

void FilesAnalyser::add_write(State& file, const Call& call) {
  FileRow& row = file.row;
  const std::int64_t offset = call.event.offset;
  if (file.written < 0) {
    row.writer = call.process;
    file.round = call.start;
    file.lowest = offset;
  } else if (offset < file.lowest) {
    file.lowest = offset;
  } else if (offset == file.lowest && offset >= 0) {
    ++row.rewrites;
    grow(row.write_pauses, std::max<std::int64_t>(call.start - file.written, 0));
    grow(row.write_rounds, file.written - file.round);
    file.round = call.start;
  }
  file.written = std::max(file.written, call.end);
}

FileRow FilesAnalyser::finished(const State& state) {
  FileRow row = state.row;
  if (state.written >= 0) grow(row.write_rounds, state.written - state.round);
  row.what = classify(row);
  return row;
}

void FilesAnalyser::remove_rows() {
  std::vector<std::int64_t> bytes;
  for (const State& file : states_) bytes.push_back(total_bytes(file.row));
  const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2);
  std::nth_element(bytes.begin(), middle, bytes.end());
  std::size_t leave = states_.size() / 2 + 1;  // removes no more files of equal size than necessary
  std::vector<State> remaining;
  for (State& file : states_) {
    const std::int64_t bytes_of_file = total_bytes(file.row);
    if (bytes_of_file > *middle || leave == 0) {
      rows_of_[file.name] = static_cast<std::uint32_t>(remaining.size());
      remaining.push_back(std::move(file));
      continue;
    }
    --leave;
    const auto what = static_cast<std::uint32_t>(finished(file).what);
    rows_of_[file.name] = kLeftOut + 2 * what + (file.again ? 1 : 0);
    grow(left_out_.bytes, bytes_of_file);
    ++left_out_.files;
    grow(classes_left_out_[what].bytes, bytes_of_file);
    grow(classes_left_out_[what].time, together(file.row.time[kReads], file.row.time[kWrites]));
    ++classes_left_out_[what].files;
  }
  states_ = std::move(remaining);
}

void FilesAnalyser::result(Report& report) const {
  std::vector<FileRow> rows;
  for (const State& file : states_) {
    rows.push_back(finished(file));
    rows.back().name = lookup_.text(file.name);
  }
  find_checkpoint_groups(rows);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const FileRow& a, const FileRow& b) { return total_bytes(a) > total_bytes(b); });
  report.classes = classes_left_out_;
  report.files_left_out = left_out_;
  for (const FileRow& row : rows) {
    ClassSum& sum = report.classes[static_cast<std::size_t>(row.what)];
    grow(sum.bytes, total_bytes(row));
    grow(sum.time, together(row.time[kReads], row.time[kWrites]));
    ++sum.files;
  }
  report.files_in_all = left_out_.files + static_cast<std::int64_t>(rows.size());
  if (left_out_.files > 0 || in_parts_ > 0)
    report.notes.push_back(base::text(
        "more than ", kept_, " files: checkpoints in several files were looked for among ", "the heaviest alone"));
  if (in_parts_ > 0)
    report.notes.push_back(base::text(in_parts_, in_parts_ == 1 ? " file was" : " files were",
                                      " judged by parts of their accesses, as there were too many to keep"));
  for (std::size_t at = kShown; at < rows.size(); ++at) {
    grow(report.files_left_out.bytes, total_bytes(rows[at]));
    ++report.files_left_out.files;
  }
  if (rows.size() > kShown) rows.resize(kShown);
  report.files = std::move(rows);
  report.data_bytes = 0;
  for (const std::int64_t extent : extents_) grow(report.data_bytes, extent);
}

}  // namespace plait::trace::report
