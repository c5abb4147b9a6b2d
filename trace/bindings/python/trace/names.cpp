// The kinds, interfaces and flags of events, as enumerations of Python.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "bind.hpp"
#include "module.hpp"
#include "plait/trace.hpp"
#include "plait/trace_names.h"
#include "trace/words.hpp"

namespace nb = nanobind;

namespace plait::python {

namespace {

struct Name {
  const char* name;
  int value;
};

#define PLAIT_KIND_NAME(name, enumerator, word) Name{#name, static_cast<int>(trace::Kind::enumerator)},
#define PLAIT_INTERFACE_NAME(name, enumerator, word) Name{#name, static_cast<int>(trace::Interface::enumerator)},
#define PLAIT_FLAG_NAME(name, constant, bits, word) Name{#name, trace::flag::constant},
const std::vector<Name> kKinds{PLAIT_TRACE_KINDS(PLAIT_KIND_NAME)};
const std::vector<Name> kInterfaces{PLAIT_TRACE_INTERFACES(PLAIT_INTERFACE_NAME)};
const std::vector<Name> kFlags{PLAIT_TRACE_FLAGS(PLAIT_FLAG_NAME) PLAIT_TRACE_DATA_TYPES(PLAIT_FLAG_NAME)  //
                               Name{"DATA_TYPE", trace::flag::kDataType}};
#undef PLAIT_KIND_NAME
#undef PLAIT_INTERFACE_NAME
#undef PLAIT_FLAG_NAME

void bind_enum(nb::module_& module, const char* base, const char* name, std::vector<Name> names,
               const char* docstring) {
  std::stable_sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.value < b.value; });
  nb::list members;
  for (const Name& entry : names) members.append(nb::make_tuple(entry.name, entry.value));
  nb::dict keywords;
  keywords["module"] = "plait.trace";
  nb::object enumeration = nb::module_::import_("enum").attr(base)(name, members, **keywords);
  enumeration.attr("__doc__") = docstring;
  module.attr(name) = enumeration;
}

nb::list to_list(std::span<const std::string_view> names) {
  nb::list words;
  for (const std::string_view word : names) words.append(to_str(word));
  return words;
}

}  // namespace

void bind_names(nb::module_& module) {
  bind_enum(module, "IntEnum", "Kind", kKinds, "What happened: the values of the field ``kind``.");
  bind_enum(module, "IntEnum", "Interface", kInterfaces,
            "Through which interface the program asked: the values of the field ``interface``.");
  bind_enum(module, "IntFlag", "Flag", kFlags,
            "Bits of the field ``flags``; the two lowest are one number, the type of data.");
  module.attr("KIND_NAMES") = to_list(trace::kind_names());
  module.attr("INTERFACE_NAMES") = to_list(trace::interface_names());
}

}  // namespace plait::python
