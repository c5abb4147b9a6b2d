// Assigns numbers to the processes and files of a trace.
//
// Problem: the system reuses process ids, and the programs that a process runs one after the other by exec may use
// the same file numbers and operation numbers.
//
// Idea: images with the same process id and start time are one process. If its images use overlapping ranges of file
// numbers, later ranges are shifted past the earlier ones. Operation numbers get the index of the image in the bits
// above 48.
//
// Example: the first image of a process uses files 5 to 9, and the second one files 7 to 8. The second one is shifted
// by 9 + 1 - 7 = 3, so that its files are 10 and 11. If both images count operations from the same number, operation
// 1 of the second one becomes 2^48 + 1.
#include <algorithm>
#include <set>

#include "base/events/events.h"
#include "trace/formats/binary/tables.hpp"

namespace plait::trace::binary {

namespace {

constexpr std::uint32_t kFirstSpareId = 1U << 23U;  // above the ids that a system assigns
constexpr int kOperationBits = 48;

const char* reason_text(int reason) {
  switch (reason) {
    case PLAIT_MISSED_MEMORY: return "events for which there was no room on the disk or in memory";
    case PLAIT_MISSED_KERNEL: return "bytes that the kernel counted and no event has";
    case PLAIT_MISSED_COMPLETION: return "asynchronous requests whose completion was not seen";
    case PLAIT_MISSED_CALL: return "calls that could not be decoded, or came while another was being kept";
    case PLAIT_MISSED_MAPPED: return "bytes of mapped files, whose loads and stores are not seen";
    case PLAIT_MISSED_PROCESS: return "child processes that could not be followed";
    default: return "missing for a reason that this version does not know";
  }
}

bool began_earlier(const Image* a, const Image* b) { return a->begin < b->begin; }

}  // namespace

void Tables::number_processes() {
  // The images of each process: the same process id and start time.
  std::map<std::pair<std::pair<const Part*, std::uint32_t>, std::uint64_t>, std::vector<Image*>> images_by_process;
  for (auto& [where, image] : images_)
    images_by_process[{{image.part, image.id}, image.block.started}].push_back(&image);
  std::vector<std::vector<Image*>> all;
  for (auto& [which, images] : images_by_process) {
    std::sort(images.begin(), images.end(), began_earlier);
    all.push_back(images);
  }
  const auto begin_time = [&](const Image& image) {
    return image.block.begin + image.part->time_shift(parts_.front());
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return begin_time(*a[0]) < begin_time(*b[0]); });

  std::set<std::uint32_t> used;
  for (const Process& process : description_.processes) used.insert(process.number);
  std::uint32_t spare_id = kFirstSpareId;
  for (const auto& images : all) {
    std::uint32_t number = images[0]->id;
    if (!used.insert(number).second) {
      while (!used.insert(spare_id).second) ++spare_id;
      renumbered_remarks_.add(description_,
                              base::text("process id ", number, " was used more than once; the process that began ",
                                         images[0]->command.empty() ? "" : "'" + images[0]->command + "' ",
                                         "later is numbered ", spare_id));
      number = spare_id;
    }
    for (Image* image : images) image->number = number;
  }
  for (const auto& images : all) {
    Process process;
    process.number = images[0]->number;
    process.host = images[0]->part->host();
    for (Image* image : images) {
      const auto parent = images_.find(make_key(*image->part, image->block.parent, image->block.parent_image));
      if (parent != images_.end() && parent->second.begin < image->begin) image->parent = &parent->second;
      if (process.rank < 0) process.rank = image->block.rank;
      if (!image->command.empty()) process.command = image->command;
      if (image->block.ended != 0) process.cpu = std::max(process.cpu, image->block.cpu);
    }
    const Image* parent = nullptr;  // the last image with that id that began before
    for (auto it = images_.lower_bound(make_key(*images[0]->part, images[0]->block.parent, 0));
         it != images_.end() && it->second.part == images[0]->part && it->second.id == images[0]->block.parent; ++it)
      if (it->second.begin < images[0]->begin) parent = &it->second;
    if (parent != nullptr && parent->number != process.number) process.parent = parent->number;
    report_end(images, process);
    description_.processes.push_back(std::move(process));
    number_files(images);
  }
}

void Tables::report_end(const std::vector<Image*>& images, const Process& process) {
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (images[i]->block.ended != 0) continue;
    const bool replaced =
        std::any_of(images.begin() + static_cast<std::ptrdiff_t>(i) + 1, images.end(), [&](Image* later) {
          return later->block.first_operation == images[i]->block.first_operation;  // replaced by exec
        });
    if (replaced || (i + 1 == images.size() && compare_killed(*images[i]))) continue;
    description_.complete = false;
    unended_remarks_.add(
        description_,
        base::text("process ", process.number, process.command.empty() ? "" : " '" + process.command + "'",
                   " did not end its trace: it was killed, or still ran when the trace was read"));
    return;
  }
}

void Tables::number_files(const std::vector<Image*>& images) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> used_ranges;  // ranges of used numbers
  std::map<std::uint64_t, std::uint64_t> images_by_first_operation;
  for (Image* image : images) {
    std::stable_sort(image->names.begin(), image->names.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::uint64_t first_number = image->block.first_file;
    std::uint64_t last_number = first_number;
    if (!image->names.empty()) last_number = std::max<std::uint64_t>(last_number, image->names.back().first);
    for (const Image* parent = image->parent; parent != nullptr; parent = parent->parent)
      if (!parent->numbers.empty()) last_number = std::max<std::uint64_t>(last_number, parent->numbers.back().first);
    std::uint64_t shift = 0;
    for (bool shifted = true; shifted;) {
      shifted = false;
      for (const auto& [first, last] : used_ranges)
        if (first_number + shift <= last && first <= last_number + shift) {
          shift = last + 1 - first_number;
          shifted = true;
        }
    }
    used_ranges.emplace_back(first_number + shift, last_number + shift);
    image->file_shift = static_cast<std::uint32_t>(shift);
    // Images of a process that count operations from the same number, as after exec, differ in the bits above.
    image->operation_shift = images_by_first_operation[image->block.first_operation]++ << kOperationBits;
    for (auto& [number, name] : image->names) {
      image->numbers.emplace_back(number, static_cast<std::uint32_t>(description_.files.size()));
      description_.files.push_back({image->number, number + image->file_shift, std::move(name)});
    }
    image->names = {};
  }
}

void Tables::sum_missed() {
  const std::int64_t named_runs = unrecorded_.describe(description_.missed);
  for (int reason = 0; reason < PLAIT_TRACE_MISSED; ++reason) {
    MissedCalls sum;
    for (const auto& [where, image] : images_) {
      sum.events += image.block.missed[reason][0];
      sum.read_bytes += image.block.missed[reason][1];
      sum.written_bytes += image.block.missed[reason][2];
    }
    if (reason == PLAIT_MISSED_PROCESS) sum.events = std::max<std::int64_t>(sum.events - named_runs, 0);
    if (sum.events == 0 && sum.read_bytes == 0 && sum.written_bytes == 0) continue;
    sum.reason = reason_text(reason);
    description_.missed.push_back(sum);
  }
}

}  // namespace plait::trace::binary
