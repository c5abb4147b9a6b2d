// Opening a File.
//
// The prefix of the name determines the driver, which opens the store. The format of the store's content determines the
// array. Order:
//
//   1. Agree     All ranks check the name and the options, and compare their calls. Rank 0 reads the environment.
//   2. Number    The File gets its number on the Comm. A rank whose arguments are rejected does not reach this phase.
//   3. Open      The driver opens or creates the store. Rank 0 describes the array in it (FileOpening), and the others
//                take over this description.
//   4. Share     The ranks create a common counter if they must agree on chunk counts.
//
// Example: `distant:a` has the prefix of the driver of shared files. Its content begins with a .npy header or is raw.
// `a.zarr` has no prefix, so the driver of ordinary files opens it, and its suffix determines the format.

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/collective.hpp"
#include "container/properties.hpp"
#include "core/comm/guard.hpp"
#include "core/costs/measured_costs.hpp"
#include "core/file/file_impl.hpp"
#include "core/file/recorded.hpp"
#include "driver/driver_registry.hpp"
#include "driver/file_driver.hpp"
#include "driver/file_opening.hpp"
#include "driver/name_check.hpp"
#include "store/objects/open_objects.hpp"
#include "transport/thread/team.hpp"

namespace plait {

namespace {

using base::text;

plan::Strategy parse_strategy(const std::string& name) {
  if (name.empty() || name == "automatic") return plan::Strategy::kAutomatic;
  if (name == "direct") return plan::Strategy::kDirect;
  if (name == "two-phase") return plan::Strategy::kTwoPhase;
  base::throw_argument_error("strategy \"", name, "\" is not known; use \"direct\", \"two-phase\" or \"automatic\"");
}

/// Returns the options of accesses from the caller and, if the caller left them out, from the environment.
plan::AccessOptions access_options(const FileOptions& options) {
  plan::AccessOptions result;
  const char* strategy = std::getenv("PLAIT_STRATEGY");
  result.strategy = parse_strategy(options.strategy.empty() && strategy != nullptr ? strategy : options.strategy);
  result.memory_bytes = options.memory;
  if (const char* memory = std::getenv("PLAIT_MEMORY"); memory != nullptr && *memory != '\0' && options.memory == 0) {
    char* end = nullptr;
    result.memory_bytes = std::strtoll(memory, &end, 10);
    if (*end != '\0' || result.memory_bytes < 1)
      base::throw_argument_error("PLAIT_MEMORY=", memory,
                                 " is not a number of bytes; use one such as 33554432, or unset it");
  }
  if (result.memory_bytes < 0)
    base::throw_argument_error("memory=", result.memory_bytes, " is negative; give a number of bytes");
  if (options.readers < 0)
    base::throw_argument_error("readers=", options.readers, " is negative; give a number of ranks, or 0");
  result.readers = options.readers;
  result.costs = core::costs_here();
  return result;
}

/// Returns whether close() syncs.  errors  kArgument: PLAIT_DURABLE is neither 0 nor 1.
bool is_durable(const FileOptions& options) {
  const char* const setting = std::getenv("PLAIT_DURABLE");
  if (options.durable || setting == nullptr || *setting == '\0') return options.durable.value_or(true);
  const std::string_view value = setting;
  if (value != "0" && value != "1")
    base::throw_argument_error("PLAIT_DURABLE=", value, " is neither 0 nor 1; set one of them, or unset it");
  return value == "1";
}

/// Rejects options that are valid only for new files.
void check_new_file_options(const FileOptions& options, const std::string& path, Mode mode) {
  if (mode == Mode::kWrite || (mode == Mode::kAppend && options.shape)) return;
  const char* const property = container::find_stated_property(options);
  const char* const new_file_option = property == nullptr && !options.groups.empty() ? "attributes" : property;
  if (new_file_option != nullptr)
    base::throw_argument_error(path, ": ", new_file_option,
                               " was given, which only a new file takes; leave it out, or use mode \"w\"");
}

/// Describes the call with all options, so that ranks can check that they make equal calls.
std::string describe_call(const core::FileContext& file, const FileOptions& options) {
  std::string out = text("open(", file.path(), ", mode ", core::mode_name(file.mode()));
  const auto add = [&](const auto&... parts) { base::append_parts(out, parts...); };
  if (options.shape) add(", shape ", shape_to_string(*options.shape));
  if (options.dtype) add(", dtype ", *options.dtype);
  if (options.element_bytes != 0) add(", elements of ", options.element_bytes, " bytes");
  if (options.order) add(", order ", *options.order == Order::kC ? "C" : "F");
  if (options.several) add(", several arrays");
  if (options.durable) add(", durable ", *options.durable ? "true" : "false");
  for (const ArrayDescription& array : options.arrays)
    add(", array ", array.name, ' ', shape_to_string(array.type.shape), ' ', array.type.dtype, ' ',
        array.type.element_bytes, ' ', static_cast<int>(array.type.order), container::properties_text(array));
  add(container::properties_text(options));
  if (!options.groups.empty()) add(", groups ", options.groups.size());
  for (const auto& [name, new_name] : options.library_copies.arrays)
    add(", copy of ", options.library_copies.source, "::", name, " to ", new_name);
  add(", offset ", options.offset, ", memory ", options.memory, ", strategy ",
      options.strategy.empty() ? "automatic" : options.strategy, ", readers ", options.readers, ')');
  return out;
}

/// States how much of a name exists when a File of mode `a` opens it. Only rank 0 examines it; run_phase() gives every
/// rank the smallest number of any rank. The other ranks pass kArray, the largest, so they get the number of rank 0.
enum Existing : std::int64_t { kNoFile = -2, kFileWithoutArray = -1, kArray = 0 };

/// Examines a name for mode `a`.
/// errors  kArgument: arrays of this kind cannot grow.  kSystem.
Existing find_existing(const std::string& path) {
  const auto* const driver = dynamic_cast<const driver::FileDriver*>(&driver::find_driver(path));
  if (driver == nullptr)
    base::throw_argument_error(path, " cannot grow: stores of this kind have a fixed shape; append to a Zarr array, ",
                               "a name that ends with .zarr");
  try {
    const std::shared_ptr<store::Store> existing = driver->find(path, /*writable=*/false).store;
    return driver::lacks_array(path, existing) ? kFileWithoutArray : kArray;
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;
    return kNoFile;
  }
}

/// Returns the mode in which a File of mode `a` is opened, and removes the properties of a new array from the options
/// of one that exists.  With mode kAppend and a shape, the array is added to an existing file.  Collective.
Mode resolve_append(const std::string& path, FileOptions& options, const Comm& comm) {
  core::FileContext context(path, Mode::kAppend, comm);
  const bool is_described = options.shape && (options.dtype || options.element_bytes != 0);
  std::int64_t existing = kArray;
  context.worker().run([&] {
    context.with_transport([&](transport::Transport& transport) {
      collective::Collective call(
          transport, [&] { return describe_call(context, options); },
          [&] { driver::check_name(path, /*is_new=*/false); });
      const auto examine = [&] {
        if (transport.rank() == 0) existing = find_existing(path);
      };
      call.run_phase(examine, existing);
      call.run_phase([&] {
        if (existing != kNoFile || is_described) return;
        base::throw_argument_error(path,
                                   " does not exist, and mode \"a\" creates an array of a shape and a dtype; give "
                                   "both, or the name of an existing array");
      });
    });
  });
  if (existing == kNoFile) return Mode::kWrite;
  if (existing == kFileWithoutArray && is_described) return Mode::kAppend;
  static_cast<ArrayProperties&>(options) = {};
  options.shape.reset();
  options.order.reset();
  options.groups.clear();
  return Mode::kAppend;
}

/// Returns the flags of the trace event of an opening.
unsigned event_flags(const core::FileContext& file) {
  const unsigned flags = file.collective_flag();
  if (file.mode() == Mode::kRead) return flags | unsigned{PLAIT_EVENT_READ_ONLY};
  if (file.mode() == Mode::kWrite) return flags | unsigned{PLAIT_EVENT_CREATE};
  return flags;
}

/// Opens the source of a File. Collective.
void open_source(File::Impl& file, const FileOptions& options, transport::Transport& transport) {
  plan::AccessOptions access;
  core::FileContext& context = file.context();
  collective::Collective call(
      transport, [&] { return describe_call(context, options); },
      [&] {
        // Reject null characters: the system would use only the text before them as the name.
        if (context.path().find('\0') != std::string::npos)
          base::throw_argument_error("the name of the file, which begins with \"", context.path().c_str(),
                                     "\", contains a null character; leave that out");
        driver::check_name(context.path(), context.mode() == Mode::kWrite);
        check_new_file_options(options, context.path(), context.mode());
        if (transport.rank() == 0) access = access_options(options);
        context.set_durable(is_durable(options));
      });
  // Take the number only after the agreement above: if a rank rejects its arguments, no rank gets here.
  context.set_number(transport.next_number());
  const driver::Driver& driver = driver::find_driver(context.path());
  // No rank may throw by itself from here to the next broadcast or agreement of the driver, which the others wait for.
  driver::FileOpening opening(file, options, call, driver.contents(), std::move(access));
  file.storage().open(driver.open(opening));
  opening.share();
}

}  // namespace

File File::open(const std::string& name, Mode requested_mode, const FileOptions& caller_options, const Comm& comm) {
  return core::guarded(comm, [&] {
    const std::string path = store::canonical_name(name);
    base::begin_recording(comm.alone() ? -1 : comm.rank());
    const base::RecordedCall call;
    std::optional<FileOptions> changed_options;  // a copy, only for mode `a`, because options are large
    if (requested_mode == Mode::kAppend) changed_options = caller_options;
    const FileOptions& options = changed_options ? *changed_options : caller_options;
    const Mode mode = changed_options ? resolve_append(path, *changed_options, comm) : requested_mode;
    auto impl = std::make_unique<Impl>(path, mode, comm);
    const unsigned flags = event_flags(impl->context());
    const auto open = [&] {
      core::record_call(
          call, {PLAIT_EVENT_OPEN, impl->context().trace_number(), flags}, [] { return core::Extent{-1, 0}; },
          [&] {
            impl->context().with_transport(
                [&](transport::Transport& transport) { open_source(*impl, options, transport); });
            return 0;
          });
    };
    impl->context().worker().run(open);
    impl->storage().watch_new();
    return File(std::move(impl));
  });
}

}  // namespace plait
