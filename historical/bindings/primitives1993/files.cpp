// popen and pclose, and the table of open units.

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "core/file/unclosed.hpp"
#include "plait/disks.hpp"
#include "plait/error.hpp"
#include "primitives1993/calls.hpp"
#include "primitives1993/lists.hpp"
#include "store/stripe/stripe_description.hpp"
#include "store/url.hpp"

namespace plait::primitives {

namespace {

void check_codes(std::int64_t access, std::int64_t form, std::int64_t status) {
  if (access != 0 && access != 1)
    base::throw_argument_error("access is ", access, "; use 0 (SEQUENTIAL) or 1 (DIRECT)");
  if (form == 1) base::throw_argument_error("form is 1 (FORMATTED), but only 0 (UNFORMATTED) is supported");
  if (form != 0) base::throw_argument_error("form is ", form, "; use 0 (UNFORMATTED)");
  if (status != 0 && status != 1) base::throw_argument_error("status is ", status, "; use 0 (OLD) or 1 (NEW)");
}

void check_numbers(std::int64_t disks, std::int64_t processors, int ranks) {
  if (disks != kNone && disks < 1)
    base::throw_argument_error("no_of_disks is ", disks, "; use -1 for all disks, or their number");
  if (processors != kNone && (processors < 1 || processors > ranks))
    base::throw_argument_error("no_of_processors is ", processors, ", but the program runs on ", ranks, "; use 1 to ",
                               ranks, ", or -1 for all");
}

/// Throws if the name of a new file exists.
void check_new(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::exists(std::filesystem::symlink_status(store::ordinary_path(path), unknown)))
    base::throw_system_error(EEXIST, "cannot open ", path, " with status NEW: it exists; use OLD, or remove it first");
}

/// Throws if another unit is making the same new file.
void check_not_made(const Runtime& state, const std::string& path) {
  const auto whole_path = [](const std::string& name) {
    return std::filesystem::absolute(store::ordinary_path(name)).lexically_normal();
  };
  for (const auto& [number, unit] : state.units)
    if (unit.status == 1 && unit.file.is_open() && whole_path(unit.path) == whole_path(path))
      base::throw_argument_error("cannot open ", path, " with status NEW: unit ", number,
                                 " is making it already; call pclose for that unit first, or use another name");
}

/// The name by which plait opens a unit's file, and the number of the file's disks.
struct Location {
  std::string name;
  std::int64_t disks = 1;
};

/// Returns the location of a new file: on the disks of the setting PLAIT_DISKS, as many as requested and available.
/// errors  kSystem: it exists.
Location new_location(const std::string& path, std::int64_t disks) {
  if (Unit::names_pipe(path)) return {path, 0};
  if (path.starts_with("stripe:"))
    base::throw_argument_error(
        path, ": popen takes the name of the file without disks; give no_of_disks, and the disks in PLAIT_DISKS");
  check_new(path);
  std::vector<std::string> folders = plait::disks();
  if (folders.empty() || store::is_raw(path)) return {path, 1};
  if (disks != kNone) folders.resize(std::min(folders.size(), static_cast<std::size_t>(disks)));
  return {stripe_url(path, folders), static_cast<std::int64_t>(folders.size())};
}

/// Returns the location of an existing file.
Location old_location(const std::string& path) {
  if (Unit::names_pipe(path)) return {path, 0};
  const int disks = stripe_count(path);
  const bool plain = !path.starts_with("stripe:") && !store::is_raw(path);
  const bool striped = plain && store::stripe::looks_like_description(path);
  return {striped ? stripe_url(path) : path, disks};
}

/// Opens an OLD file for reading and writing or, if that is not permitted, for reading; an OLD pipe for reading.
File open_file(const Runtime& state, const std::string& path, std::int64_t status, std::int64_t processors) {
  FileOptions options;
  options.several = true;
  options.shape = Extents{0};
  options.element_bytes = 1;
  options.order = Order::kFortran;
  if (processors != kNone) {  // only these ranks access the file
    options.readers = processors;
    options.strategy = "two-phase";
  }
  const core::SilentScope silent;  // The file does not report that it was not closed: the runtime reports the unit.
  if (status == 1) return File::open(path, Mode::kWrite, options, state.comm);
  if (Unit::names_pipe(path)) return File::open(path, Mode::kRead, options, state.comm);
  try {
    return File::open(path, Mode::kReadWrite, options, state.comm);
  } catch (const Error& error) {
    if (error.system_code() != EACCES && error.system_code() != EROFS && error.system_code() != EPERM) throw;
  }
  return File::open(path, Mode::kRead, options, state.comm);
}

}  // namespace

std::int64_t open_unit(std::int64_t unit, const std::string& path, const OpenCodes& codes) {
  Runtime& state = runtime();
  Location location;
  const auto error = collective::caught([&] {
    check_codes(codes.access, codes.form, codes.status);
    check_numbers(codes.disks, codes.processors, state.comm.size());
    if (unit < 0) base::throw_argument_error("unit ", unit, " is negative; use 0 or more");
    if (path.empty()) base::throw_argument_error("the name of the file is empty");
    if (const auto open_unit_entry = state.units.find(unit); open_unit_entry != state.units.end())
      base::throw_argument_error("unit ", unit, " is open on ", open_unit_entry->second.path,
                                 "; call pclose first, or use another unit");
    if (codes.status == 1) check_not_made(state, path);
    if (state.comm.rank() == 0) location = codes.status == 1 ? new_location(path, codes.disks) : old_location(path);
  });
  agree(state,
        base::text("popen(", unit, ", '", path, "', ", codes.access, ", ", codes.form, ", ", codes.status, ", ",
                   codes.disks, ", ", codes.processors, ')'),
        error);
  location.name = broadcast_from_rank_0(state, location.name);
  location.disks = std::stoll(broadcast_from_rank_0(state, std::to_string(location.disks)));
  File file = open_file(state, location.name, codes.status, codes.processors);
  state.units.emplace(unit, Unit{unit, path, codes.access, codes.form, codes.status, location.disks,
                                 codes.processors == kNone ? state.comm.size() : codes.processors, std::move(file), 0});
  return location.disks;
}

void close_unit(std::int64_t unit) {
  Runtime& state = runtime();
  bool is_new_file = false;
  const auto error = collective::caught([&] {
    const Unit& closed_unit = find_unit(state, unit);
    is_new_file = closed_unit.status == 1 && closed_unit.file.is_open() && !closed_unit.is_pipe();
    std::error_code unknown;
    if (is_new_file && state.comm.rank() == 0 &&
        std::filesystem::exists(std::filesystem::symlink_status(store::ordinary_path(closed_unit.path), unknown)))
      base::throw_system_error(EEXIST, "cannot close unit ", unit, ": ", closed_unit.path,
                               " was opened with status NEW, but exists by now; remove it and call pclose again");
  });
  // If the file exists by now, another program has made it. The unit then stays open.
  if (is_new_file) agree(state, base::text("pclose(", unit, ')'), error);
  if (error) fail_together(state, error);
  Unit& closing = state.units.at(unit);
  File& file = closing.file;
  if (!file.is_open()) {  // the same on every rank
    const std::string path = closing.path;
    state.units.erase(unit);
    base::throw_system_error(ECANCELED, "unit ", unit, " (", path,
                             ") was abandoned after an earlier error; open it again");
  }
  try {
    file.close();
  } catch (...) {
    // If the ranks closed different files, all of them stay open.
    if (!file.is_open()) state.units.erase(unit);
    throw;
  }
  state.units.erase(unit);
}

const Unit& find_unit(Runtime& state, std::int64_t number) {
  const auto entry = state.units.find(number);
  if (entry != state.units.end()) return entry->second;
  Extents open_numbers;
  for (const auto& [open, unit] : state.units) open_numbers.push_back(open);
  base::throw_argument_error(
      "unit ", number, " is not open; ",
      open_numbers.empty() ? "no unit is" : base::text("open are ", base::tuple_text(open_numbers)),
      "; call popen first");
}

Extents make_table(const Unit& unit) {
  return {unit.number, unit.access, unit.form, unit.status, unit.disks, unit.processors};
}

std::string describe_units(const Runtime& state) {
  const char* const names[] = {"Unit", "Access", "Form", "Status", "No of disks", "No of processors"};
  std::string out;
  for (const char* const name : names) base::append_parts(out, name, "  ");
  out += "File\n";
  for (const auto& [number, unit] : state.units) {
    const Extents row = make_table(unit);
    for (std::size_t i = 0; i < row.size(); ++i)
      base::append_parts(out, base::aligned_right(base::text(row[i]), std::string_view(names[i]).size()), "  ");
    base::append_parts(out, unit.path, '\n');
  }
  return out;
}

}  // namespace plait::primitives
