// Statistics of each file in bounded memory.
//
// If there are more than `max_rows_` files, those with the most bytes stay, and the sums of the others are added to
// `left_out_`. Example: with a limit of 4 and files of 1, 5, 7 and 9 MiB, the median is 7 MiB. The files of 1, 5 and
// 7 MiB are removed, and a new file gets a free row.

#include "trace/report/tables/files.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "trace/report/sum.hpp"
#include "trace/report/tables/classes.hpp"

namespace plait::trace::report {

namespace {

std::int64_t total_bytes(const FileRow& row) { return sum_saturated(row.data[kReads].bytes, row.data[kWrites].bytes); }

void count(Order& order, Sequence sequence) {
  if (sequence == Sequence::kConsecutive) ++order.consecutive;
  if (sequence == Sequence::kSequential) ++order.sequential;
  if (sequence == Sequence::kRandom) ++order.random;
}

}  // namespace

FilesAnalyser::State& FilesAnalyser::find_or_create_state(const Call& call) {
  if (call.name >= row_indices_.size()) {
    row_indices_.resize(lookup_.names(), kNoRow);
    extents_.resize(lookup_.names(), 0);
  }
  std::uint32_t index = row_indices_[call.name];
  if (index < kRemoved) return states_[index];
  const bool was_removed = index < kNoRow;
  if (was_removed) {  // no longer counted as left out
    const std::uint32_t mark = index - kRemoved;
    --left_out_.files;
    --classes_left_out_[mark / 2].files;
    partial_files_ += mark % 2 == 0 ? 1 : 0;
  }
  if (states_.size() >= max_rows_) remove_rows();
  index = static_cast<std::uint32_t>(states_.size());
  row_indices_[call.name] = index;
  State& new_state = states_.emplace_back();
  new_state.name = call.name;
  new_state.was_removed = was_removed;
  new_state.row.begin = call.start;
  return new_state;
}

void FilesAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    if (call.name == kNoFile || !(call.is_data() || call.opens)) continue;
    State& file = find_or_create_state(call);
    FileRow& row = file.row;
    row.end = std::max(row.end, call.end);
    row.opens += call.opens ? 1 : 0;
    row.processes += call.first_of_pair ? 1 : 0;
    if (!call.is_data()) continue;
    const auto direction = static_cast<std::size_t>(call.direction);
    ++row.data[direction].count;
    add_saturated(row.data[direction].bytes, call.moved);
    add_saturated(row.time[direction], call.end - call.start);
    count(row.order[direction], call.sequence);
    if (call.event.offset >= 0 && call.moved > 0) {
      row.extent = std::max(row.extent, call.event.offset + call.moved);
      extents_[call.name] = std::max(extents_[call.name], row.extent);
    }
    if (call.direction == kWrites) {
      add_write(file, call);
    } else {
      if (file.last_write_end >= 0) add_saturated(row.read_back, call.moved);
      row.alternations += file.wrote_last ? 1 : 0;
    }
    file.wrote_last = call.direction == kWrites;
  }
}

void FilesAnalyser::add_write(State& file, const Call& call) {
  FileRow& row = file.row;
  const std::int64_t offset = call.event.offset;
  if (file.last_write_end < 0) {
    row.writer = call.process;
    file.round_begin = call.start;
    file.lowest_offset = offset;
  } else if (offset < file.lowest_offset) {
    file.lowest_offset = offset;
  } else if (offset == file.lowest_offset && offset >= 0) {
    ++row.rewrites;
    add_saturated(row.write_pauses, std::max<std::int64_t>(call.start - file.last_write_end, 0));
    add_saturated(row.write_rounds, file.last_write_end - file.round_begin);
    file.round_begin = call.start;
  }
  file.last_write_end = std::max(file.last_write_end, call.end);
}

FileRow FilesAnalyser::finish_row(const State& state) {
  FileRow row = state.row;
  if (state.last_write_end >= 0) add_saturated(row.write_rounds, state.last_write_end - state.round_begin);
  row.what = classify(row);
  return row;
}

void FilesAnalyser::remove_rows() {
  std::vector<std::int64_t> bytes;
  for (const State& file : states_) bytes.push_back(total_bytes(file.row));
  const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2);
  std::nth_element(bytes.begin(), middle, bytes.end());
  std::size_t removals_left = states_.size() / 2 + 1;  // removes no more files of equal size than necessary
  std::vector<State> remaining;
  for (State& file : states_) {
    const std::int64_t bytes_of_file = total_bytes(file.row);
    if (bytes_of_file > *middle || removals_left == 0) {
      row_indices_[file.name] = static_cast<std::uint32_t>(remaining.size());
      remaining.push_back(std::move(file));
      continue;
    }
    --removals_left;
    const auto what = static_cast<std::uint32_t>(finish_row(file).what);
    row_indices_[file.name] = kRemoved + 2 * what + (file.was_removed ? 1 : 0);
    add_saturated(left_out_.bytes, bytes_of_file);
    ++left_out_.files;
    add_saturated(classes_left_out_[what].bytes, bytes_of_file);
    add_saturated(classes_left_out_[what].time, sum_saturated(file.row.time[kReads], file.row.time[kWrites]));
    ++classes_left_out_[what].files;
  }
  states_ = std::move(remaining);
}

void FilesAnalyser::store_results(Report& report) const {
  std::vector<FileRow> rows;
  for (const State& file : states_) {
    rows.push_back(finish_row(file));
    rows.back().name = lookup_.text(file.name);
  }
  find_checkpoint_groups(rows);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const FileRow& a, const FileRow& b) { return total_bytes(a) > total_bytes(b); });
  report.classes = classes_left_out_;
  report.files_left_out = left_out_;
  for (const FileRow& row : rows) {
    ClassSum& sum = report.classes[static_cast<std::size_t>(row.what)];
    add_saturated(sum.bytes, total_bytes(row));
    add_saturated(sum.time, sum_saturated(row.time[kReads], row.time[kWrites]));
    ++sum.files;
  }
  report.files_in_all = left_out_.files + static_cast<std::int64_t>(rows.size());
  if (left_out_.files > 0 || partial_files_ > 0)
    report.notes.push_back(base::text(
        "more than ", max_rows_, " files: checkpoints in several files were looked for among ", "the heaviest alone"));
  if (partial_files_ > 0)
    report.notes.push_back(base::text(partial_files_, partial_files_ == 1 ? " file was" : " files were",
                                      " judged by parts of their accesses, as there were too many to keep"));
  for (std::size_t index = kMaxReported; index < rows.size(); ++index) {
    add_saturated(report.files_left_out.bytes, total_bytes(rows[index]));
    ++report.files_left_out.files;
  }
  if (rows.size() > kMaxReported) rows.resize(kMaxReported);
  report.files = std::move(rows);
  report.data_bytes = 0;
  for (const std::int64_t extent : extents_) add_saturated(report.data_bytes, extent);
}

}  // namespace plait::trace::report
