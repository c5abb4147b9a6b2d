/// Dense numbers of the processes, opens and names of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plait/trace.hpp"
#include "trace/report/flat_map.hpp"

namespace plait::trace::report {

/// Assigns consecutive numbers from 0 to processes, opens (one opening of a file) and file names, so that analysers can
/// use arrays. The description grows while the trace is read. A name that was opened several times is one name; an open
/// without a name gets a generated name.
/// memory  about 30 bytes an open, in addition to the description.
class Lookup {
 public:
  explicit Lookup(const Description& description) : description_(description) {}

  /// Adds the new entries of the description.
  void update();
  /// Returns the number of a process. Adds it if the description does not contain it.
  std::uint32_t process(std::uint32_t number);
  /// Returns the number of an open. Adds it if the description does not contain it.
  std::uint32_t open(std::uint32_t process, std::uint32_t file);

  std::size_t processes() const { return processes_.size(); }
  std::size_t opens() const { return names_of_opens_.size(); }
  std::size_t names() const { return names_.size(); }
  std::uint32_t name(std::uint32_t open) const { return names_of_opens_[open]; }
  const Process& process_at(std::uint32_t process) const { return processes_[process]; }
  const std::string& text(std::uint32_t name) const;

 private:
  std::uint32_t find_name(const std::string& text, std::uint32_t file);

  const Description& description_;
  std::size_t read_files_ = 0;
  std::size_t read_processes_ = 0;
  std::vector<Process> processes_;
  FlatMap process_numbers_;
  FlatMap open_numbers_;  // key: process << 32 | file
  std::vector<std::uint32_t> names_of_opens_;
  FlatMap name_numbers_;  // key: hash
  // Position of a name's text: an index in the description's files or, from kGeneratedName on, in generated_names_.
  static constexpr std::uint32_t kGeneratedName = std::uint32_t{1} << 31;
  std::vector<std::uint32_t> names_;
  std::vector<std::string> generated_names_;
  std::uint64_t last_open_key_ = UINT64_MAX;
  std::uint32_t last_open_ = 0;
  std::uint32_t last_process_number_ = 0;
  std::uint32_t last_process_ = FlatMap::kNone;
};

}  // namespace plait::trace::report
