// Files as a whole: opening, properties, closing.

#include <algorithm>
#include <string_view>

#include "base/errors.hpp"
#include "objects.hpp"
#include "options.hpp"

using namespace plait::c;
using plait::File;
using plait::FileOptions;
using plait::Mode;
using plait::Order;

namespace {

Mode mode_named(const std::string& name) {
  if (name == "r") return Mode::kRead;
  if (name == "w") return Mode::kWrite;
  if (name == "r+") return Mode::kReadWrite;
  if (name == "a") return Mode::kAppend;
  plait::base::throw_argument_error("mode \"", name, R"(" is not known; use "r", "w", "r+" or "a")");
}

Order order_named(const std::string& name) {
  if (name == "C" || name == "c") return Order::kC;
  if (name == "F" || name == "f") return Order::kFortran;
  plait::base::throw_argument_error("order \"", name, R"(" is not known; use "C" or "F")");
}

FileOptions file_options(const plait_open_options* options) {
  const plait_open_options values = copy_options(options, "plait_open_options");
  FileOptions result;
  if (values.shape == nullptr && values.dimensions != 0)
    plait::base::throw_argument_error("a shape of ", values.dimensions, " dimensions was given, but shape is NULL");
  if (values.shape != nullptr) result.shape = to_extents(values.shape, values.dimensions, "shape");
  if (values.dtype != nullptr) result.dtype = values.dtype;
  result.element_bytes = values.element_bytes;
  if (values.order != nullptr) result.order = order_named(values.order);
  result.offset = values.offset;
  result.memory = values.memory;
  if (values.strategy != nullptr) result.strategy = values.strategy;
  constexpr std::string_view kStrategies[] = {"", "automatic", "direct", "two-phase"};
  if (std::find(std::begin(kStrategies), std::end(kStrategies), result.strategy) == std::end(kStrategies))
    plait::base::throw_argument_error("strategy \"", result.strategy,
                                      R"(" is not known; use "direct", "two-phase" or "automatic")");
  result.readers = values.readers;
  if (values.chunk != nullptr) result.chunk = to_extents(values.chunk, values.dimensions, "chunk");
  if (values.shard != nullptr) result.shard = to_extents(values.shard, values.dimensions, "shard");
  if (values.codec != nullptr) result.codec = values.codec;
  if (values.fill_value != nullptr) result.fill_value = values.fill_value;
  if (values.durable < -1 || values.durable > 1)
    plait::base::throw_argument_error("durable=", values.durable, " is not known; use 1, -1 or 0");
  if (values.durable != 0) result.durable = values.durable > 0;
  for (int d = 0; values.dimension_names != nullptr && d < values.dimensions; ++d)
    result.dimension_names.push_back(to_text(values.dimension_names[d], "dimension_names"));
  return result;
}

/// Returns the handle that is to be closed.
plait_file* handle_or_null(plait_file** file) { return file == nullptr ? nullptr : *file; }

}  // namespace

plait_status plait_open(const char* url, const char* mode, const plait_comm* comm, const plait_open_options* options,
                        plait_file** file) {
  if (file != nullptr) *file = nullptr;
  return guarded(comm, [&] {
    const plait::Comm& everyone = to_comm(comm);
    struct OpenArguments {
      std::unique_ptr<plait_file> handle;
      std::string path;
      Mode mode;
      FileOptions options;
    };
    const auto report = [&](const std::string& message, int code) { File::fail_open(message, everyone, code); };
    OpenArguments arguments = run_checks(report, [&] {
      output(file, "file");
      return OpenArguments{std::make_unique<plait_file>(), to_text(url, "url"), mode_named(to_text(mode, "mode")),
                           file_options(options)};
    });
    arguments.handle->comm = everyone;
    arguments.handle->file = File::open(arguments.path, arguments.mode, arguments.options, everyone);
    *file = arguments.handle.release();
  });
}

plait_status plait_close(plait_file** file) {
  const plait_status status = guarded(handle_or_null(file), [&] {
    File& file_object = to_file(handle_or_null(file));
    const bool lost = !file_object.is_open();  // a file that was closed without error has no handle
    file_object.close();
    if (lost)
      plait::base::throw_system_error(
          0, file_object.path(), ": an earlier call failed for good, so ",
          file_object.mode() == Mode::kWrite ? "there is no new file" : "it is closed already",
          "; end it with plait_abandon");
  });
  return status == PLAIT_OK ? free_handle(file) : status;
}

plait_status plait_abandon(plait_file** file) {
  if (handle_or_null(file) == nullptr) return PLAIT_OK;
  // The handle is freed in any case, so the message belongs to the thread.
  const plait_status status = guarded(nullptr, [&] { to_file(*file).abandon(); });
  free_handle(file);
  return status;
}

plait_status plait_file_dimensions(const plait_file* file, int* dimensions) {
  return guarded(file, [&] { output(dimensions, "dimensions") = static_cast<int>(to_file(file).type().shape.size()); });
}

plait_status plait_file_shape(const plait_file* file, int capacity, int64_t* shape) {
  return guarded(file, [&] {
    const plait::Extents& array_shape = to_file(file).type().shape;
    if (capacity < static_cast<int>(array_shape.size()))
      plait::base::throw_argument_error("shape has room for ", capacity, " numbers, but the array has ",
                                        array_shape.size(), " dimensions; make it larger");
    if (!array_shape.empty()) std::copy(array_shape.begin(), array_shape.end(), &output(shape, "shape"));
  });
}

plait_status plait_file_element_bytes(const plait_file* file, int64_t* element_bytes) {
  return guarded(file, [&] { output(element_bytes, "element_bytes") = to_file(file).type().element_bytes; });
}

plait_status plait_file_dtype(const plait_file* file, char** dtype) {
  if (dtype != nullptr) *dtype = nullptr;
  return guarded(file, [&] { store_text(dtype, "dtype", [&] { return to_file(file).type().dtype; }); });
}

plait_status plait_file_order(const plait_file* file, char* order) {
  return guarded(file, [&] { output(order, "order") = to_file(file).type().order == Order::kC ? 'C' : 'F'; });
}

plait_status plait_file_times(const plait_file* file, double* io, double* copy, double* wait, double* total) {
  return guarded(file, [&] {
    const plait::AccessTimes times = to_file(file).last_times();
    if (io != nullptr) *io = times.io;
    if (copy != nullptr) *copy = times.copy;
    if (wait != nullptr) *wait = times.wait;
    if (total != nullptr) *total = times.total;
  });
}

plait_status plait_file_fail(plait_file* file, const char* message) {
  return guarded(file, [&] { to_file(file).fail(message == nullptr ? "wrong arguments" : message); });
}
