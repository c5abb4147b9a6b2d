// The 1993 primitives as external procedures of Fortran, for one kind of default integer per library.
//
// The thesis's procedures have no status argument. If the program queries an error with neither plait_status nor
// plait_message, it is printed on the standard error of rank 0.

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "handle.hpp"
#include "primitives1993/calls.hpp"
#include "primitives1993/lists.hpp"

namespace {

namespace primitives = plait::primitives;
using plait::Extents;
using Integer = PLAIT_FORTRAN_INTEGER;
using Length = std::size_t;  // length of a character argument, passed after all other arguments

int last_status = 0;
std::string last_text;

/// Runs a primitive and stores its status.
template <typename Body>
void call(const char* name, Body&& body) {
  last_status = plait::c::guarded(nullptr, body);
  if (last_status == 0) return;
  try {
    last_text = plait::base::text(name, ": ", plait_message(nullptr));
    primitives::report_later(last_text);
  } catch (...) {  // no memory for the text; the status remains
    last_text.clear();
  }
}

/// Returns a character argument without the blanks at its end.
std::string to_text(const char* text, Length length) {
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\0')) --length;
  return {text, length};
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// The codes of popen: integers, or the words of the thesis's other spelling. Only words have length arguments, which
/// come after all other arguments.
class Codes {
 public:
  explicit Codes(std::array<Length, 3> lengths) : lengths_(lengths) {}

  /// Returns the integer, or the position of the word in `names`.
  std::int64_t next(const void* argument, std::array<const char*, 2> names, const char* what) {
    const auto* const text = static_cast<const char*>(argument);
    for (std::size_t code = 0; code < names.size(); ++code) {
      const std::size_t length = std::strlen(names[code]);
      if (::strncasecmp(text, names[code], length) != 0) continue;
      if (goes_on(text, length, lengths_[word_++])) break;
      return static_cast<std::int64_t>(code);
    }
    if (is_letter(text[0]) && is_letter(text[1]))
      plait::base::throw_argument_error("the word passed for ", what, " is not known; use '", names[0], "' or '",
                                        names[1], '\'');
    Integer code = 0;
    std::memcpy(&code, argument, sizeof code);
    return code;
  }

 private:
  /// True if other characters than blanks follow the word. A caller in another language may pass no lengths, so an
  /// impossible length is ignored.
  static bool goes_on(const char* text, std::size_t word, Length length) {
    constexpr Length kLongest = 256;
    return length > word && length <= kLongest &&
           std::any_of(text + word, text + length, [](char c) { return c != ' ' && c != '\0'; });
  }

  std::array<Length, 3> lengths_;
  std::size_t word_ = 0;
};

/// Stores a result in an argument if that is writable: programs pass constants, which may be in read-only memory. The
/// system copies the value and returns an error instead of a signal.
void hand_back(Integer* argument, std::int64_t value) {
  const auto result = static_cast<Integer>(value);
  if (*argument == result) return;
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return;
  if (::write(pipe[1], &result, sizeof result) == static_cast<ssize_t>(sizeof result))
    static_cast<void>(!::read(pipe[0], argument, sizeof result));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace

extern "C" {

void popen_(const Integer* unit, const char* file, const void* access, const void* form, const void* status,
            Integer* no_of_disks, const Integer* no_of_processors, Length file_length, Length first_word,
            Length second_word, Length third_word) {
  call("popen", [&] {
    std::array<std::int64_t, 3> codes{};
    primitives::run_check_together([&] {
      Codes names({first_word, second_word, third_word});
      codes[0] = names.next(access, {"SEQUENTIAL", "DIRECT"}, "access");
      codes[1] = names.next(form, {"UNFORMATTED", "FORMATTED"}, "form");
      codes[2] = names.next(status, {"OLD", "NEW"}, "status");
    });
    hand_back(no_of_disks, primitives::open_unit(*unit, to_text(file, file_length),
                                                 {codes[0], codes[1], codes[2], *no_of_disks, *no_of_processors}));
  });
}

void pclose_(const Integer* unit) {
  call("pclose", [&] { primitives::close_unit(*unit); });
}

Integer array_map_(const char* array_name, const Integer* size_info, const Integer* distr_info,
                   const Integer* block_size, const Integer* proc_info, Length name_length) {
  std::int64_t descriptor = 0;
  call("array_map", [&] {
    descriptor =
        primitives::map_array(to_text(array_name, std::min<Length>(name_length, 63)),
                              {primitives::read_list(size_info), primitives::read_whole_list(distr_info),
                               primitives::read_whole_list(block_size), primitives::read_whole_list(proc_info)},
                              sizeof(Integer));
  });
  return static_cast<Integer>(last_status == 0 ? descriptor : -last_status);
}

void array_type_(const Integer* array_descriptor, const char* type, Length type_length) {
  call("array_type", [&] { primitives::set_array_type(*array_descriptor, to_text(type, type_length)); });
}

void proc_map_(const Integer* proc_info, const Integer* map_mode, const Integer* user_map) {
  call("proc_map", [&] {
    Extents map;
    if (*map_mode == primitives::kUserMap) map.assign(user_map, user_map + primitives::runtime().comm.size());
    primitives::map_processors(primitives::read_whole_list(proc_info), *map_mode, map);
  });
}

void pread_(void* array_name, const Integer* size1, const Integer* size2, const Integer* array_descriptor,
            const Integer* unit, void* /*io_buffer*/, const Integer* io_size) {
  call("pread",
       [&] { primitives::access_array(false, {array_name, *size1, *size2}, *array_descriptor, *unit, *io_size); });
}

void pwrite_(void* array_name, const Integer* size1, const Integer* size2, const Integer* array_descriptor,
             const Integer* unit, void* /*io_buffer*/, const Integer* io_size) {
  call("pwrite",
       [&] { primitives::access_array(true, {array_name, *size1, *size2}, *array_descriptor, *unit, *io_size); });
}

/// Returns the status of the last primitive: 0 for success.
Integer plait_status_(void) {
  primitives::discard_unreported();
  return last_status;
}

/// Returns the text of the last error, truncated or filled with blanks.
void plait_message_(char* text, Length length) {
  primitives::discard_unreported();
  std::fill_n(text, length, ' ');
  std::copy_n(last_text.begin(), std::min(length, last_text.size()), text);
}

void plait_fda_(const Integer* unit, Integer* row) {
  call("plait_fda", [&] {
    const Extents values = primitives::make_table(primitives::find_unit(primitives::existing_runtime(), *unit));
    std::transform(values.begin(), values.end(), row, [](auto value) { return static_cast<Integer>(value); });
  });
}

/// Stores the table in table(4, 7).
void plait_adt_(const Integer* array_descriptor, Integer* table) {
  call("plait_adt", [&] {
    const Extents values =
        primitives::make_table(primitives::find_array(primitives::existing_runtime(), *array_descriptor));
    const std::size_t columns = primitives::kMaxPrimitiveDimensions;
    for (std::size_t i = 0; i < values.size(); ++i)
      table[i % columns * (values.size() / columns) + i / columns] = static_cast<Integer>(values[i]);
  });
}

/// Stores the table in table(N + 1, P).
void plait_p_info_(Integer* table) {
  call("plait_p_info", [&] {
    const primitives::Grid& grid = primitives::find_grid(primitives::existing_runtime());
    const Extents values = primitives::make_table(grid);
    const std::size_t columns = grid.ranks.size();
    for (std::size_t i = 0; i < values.size(); ++i)
      table[i % columns * (grid.shape.size() + 1) + i / columns] = static_cast<Integer>(values[i]);
  });
}

void plait_print_fda_(void) {
  call("plait_print_fda", [&] {
    const primitives::Runtime& state = primitives::existing_runtime();
    primitives::print(state, primitives::describe_units(state));
  });
}

void plait_print_adt_(const Integer* array_descriptor) {
  call("plait_print_adt", [&] {
    primitives::Runtime& state = primitives::existing_runtime();
    primitives::print(state, primitives::to_string(primitives::find_array(state, *array_descriptor)));
  });
}

void plait_print_p_info_(void) {
  call("plait_print_p_info", [&] {
    const primitives::Runtime& state = primitives::existing_runtime();
    primitives::print(state, primitives::to_string(primitives::find_grid(state)));
  });
}

}  // extern "C"
