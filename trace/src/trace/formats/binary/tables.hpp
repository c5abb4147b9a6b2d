/// The processes and names of a trace.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/events/format.h"
#include "plait/trace.hpp"
#include "trace/formats/binary/part.hpp"
#include "trace/formats/binary/remarks.hpp"
#include "trace/formats/binary/unrecorded.hpp"

namespace plait::trace::binary {

/// One program in one process that wrote events. exec begins another image in the same process.
struct Image {
  const Part* part = nullptr;
  std::uint32_t id = 0;     ///< process id in the system
  std::uint64_t begin = 0;  ///< see plait_chunk::image
  plait_process_block block{};
  std::optional<plait_account> account;
  std::string command;
  std::uint32_t number = 0;       ///< number of the process in the trace
  const Image* parent = nullptr;  ///< image whose names it inherits
  std::uint32_t file_shift = 0;   ///< added to file numbers, so that images of one process do not share numbers
  std::uint64_t operation_shift = 0;
  std::vector<std::pair<std::uint32_t, std::string>> names;  ///< until they are in the description
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      numbers;  ///< number in the chunks, and index in Description::files
  /// Numbers of files whose names are inherited from a parent, and their numbers in the trace, after their first use.
  mutable std::map<std::uint32_t, std::uint32_t> inherited;
};

/// Reads all chunks except those of events, and fills the description.
class Tables {
 public:
  Tables(const std::vector<Part>& parts, Description& description);

  const Image* find_image(const Part& part, std::uint32_t process, std::uint64_t begin) const;
  /// Returns the number of a file of this image in the trace. Adds an inherited name to the description at its first
  /// use.
  std::uint32_t find_file(const Image& image, std::uint32_t file);
  /// Returns the number in the trace of a process that this one forked; `id` if the trace does not contain it.
  std::uint64_t find_child(const Image& image, std::uint64_t id) const;

 private:
  using Key = std::pair<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>;  // part, process, image

  Key make_key(const Part& part, std::uint32_t process, std::uint64_t image) const {
    return {{static_cast<std::uint64_t>(&part - parts_.data()), process}, image};
  }
  void read(const Part& part);
  void read_process(const Part& part, const plait_chunk& chunk, std::string_view content);
  void read_names(Image& image, std::string_view content, std::uint64_t position);
  void read_tables(std::string_view content, const Part& part, std::uint64_t position);
  bool read_record(std::uint64_t type, std::string_view record);
  void number_processes();
  void number_files(const std::vector<Image*>& images);
  void read_account(const Part& part, const plait_chunk& chunk, std::string_view content);
  bool read_reaped(const Image& image, std::string_view name);
  /// Compares the sums of a killed image with the kernel's counters of its process, and adds what its events lack to
  /// the missed calls. Returns false if the two cannot be compared.
  bool compare_killed(Image& image) const;
  void report_end(const std::vector<Image*>& images, const Process& process);
  void sum_missed();

  Description& description_;
  const std::vector<Part>& parts_;
  std::map<Key, Image> images_;
  /// A chunk of names, whose image is known only after all chunks were read.
  struct NamesChunk {
    const Part* part;
    std::uint32_t process;
    std::uint64_t image;
    std::uint64_t position;
    std::string content;
  };
  std::vector<NamesChunk> names_chunks_;
  UnrecordedPrograms unrecorded_;
  std::vector<std::pair<Key, plait_account>> accounts_;  // until the images are known
  /// The kernel's counters of processes that were waited for (bytes read, bytes written, read calls, write calls), by
  /// part, process id and start time.
  std::map<std::pair<std::pair<const Part*, std::uint32_t>, std::uint64_t>, std::array<std::int64_t, 4>>
      kernel_counters_;
  Remarks damage_remarks_{"further damaged tables of the trace"};
  Remarks unended_remarks_{"further processes that were killed or still run"};
  Remarks renumbered_remarks_{"further processes whose id was used before"};
  bool has_end_record_ = false;  // true if a written trace contains its end
};

}  // namespace plait::trace::binary
