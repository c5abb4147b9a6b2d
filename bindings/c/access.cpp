// Reads and writes of files.

#include "base/errors.hpp"
#include "local_arrays.hpp"
#include "objects.hpp"
#include "options.hpp"

using namespace plait::c;
using plait::ConstPart;
using plait::File;
using plait::Layout;
using plait::MutablePart;
using plait::Region;

namespace {

Region to_region(const plait_access& access) {
  if (access.region == nullptr && access.slices != 0)
    plait::base::throw_argument_error("a region of ", access.slices, " slices was given, but region is NULL");
  if (access.slices < 0 || access.slices > plait::kMaxDimensions)
    plait::base::throw_argument_error("a region has ", access.slices, " slices; there may be 0 to ",
                                      plait::kMaxDimensions);
  Region region;
  for (int i = 0; i < access.slices; ++i) {
    const plait_slice& slice = access.region[i];
    region.push_back({slice.start, slice.count, slice.stride == 0 ? 1 : slice.stride, slice.single != 0});
  }
  return region;
}

/// The arguments of an access.
template <typename Part>
struct PartsRequest {
  const Layout& layout;
  std::vector<Part> parts;
  Region region;
  bool fill_halo = false;
};

/// The arguments of every access except its arrays.
struct AccessArguments {
  plait_file* file;
  const plait_layout* layout;
  const plait_access* access;
};

/// Checks and converts the arguments. An error of one rank becomes the error of all.
template <typename Part, typename CheckOutput, typename Find>
PartsRequest<Part> make_request(const AccessArguments& call, CheckOutput&& check_output, Find&& find_parts) {
  File& file_object = to_file(call.file);
  const auto report = [&](const std::string& message, int code) { file_object.fail(message, code); };
  return run_checks(report, [&] {
    check_output();
    const Layout& layout_object = to_layout(call.layout);
    const plait_access options = copy_options(call.access, "plait_access");
    return PartsRequest<Part>{layout_object,
                              find_parts(layout_object, call.file->comm, file_object.type().element_bytes),
                              to_region(options), options.fill_halo != 0};
  });
}

void check_nothing() {}

/// Starts an access. The handle of the request is allocated first, so that no access is started without one.
template <typename Part, typename Find, typename Start>
plait_status start(const AccessArguments& arguments, plait_request** request, Find&& find_parts, Start&& begin) {
  if (request != nullptr) *request = nullptr;
  return guarded(arguments.file, [&] {
    std::unique_ptr<plait_request> handle;
    auto call = make_request<Part>(
        arguments,
        [&] {
          output(request, "request");
          handle = std::make_unique<plait_request>();
        },
        find_parts);
    store_request(*handle, begin(to_file(arguments.file), call));
    *request = handle.release();
  });
}

/// Return a function that makes the list of local arrays for an access, once its layout is checked.
auto find_dense(void* data, int64_t bytes) {
  return [=](const Layout& layout, const plait::Comm& comm, std::int64_t element_bytes) {
    return dense_parts(layout, comm, element_bytes, DenseArray<void>{data, bytes, "data"});
  };
}

auto find_dense(const void* data, int64_t bytes) {
  return [=](const Layout& layout, const plait::Comm& comm, std::int64_t element_bytes) {
    return dense_parts(layout, comm, element_bytes, DenseArray<const void>{data, bytes, "data"});
  };
}

template <typename Part>
auto find_listed(const Part* parts, int64_t count) {
  return [=](const Layout& layout, const plait::Comm& comm, std::int64_t element_bytes) {
    return listed_parts(layout, comm, element_bytes, PartList<Part>{parts, count, "parts"});
  };
}

template <typename Find>
plait_status read(const AccessArguments& arguments, Find&& find_parts) {
  return guarded(arguments.file, [&] {
    const auto call = make_request<MutablePart>(arguments, check_nothing, find_parts);
    to_file(arguments.file).read(call.layout, call.parts, call.region, call.fill_halo);
  });
}

template <typename Find>
plait_status write(const AccessArguments& arguments, Find&& find_parts) {
  return guarded(arguments.file, [&] {
    const auto call = make_request<ConstPart>(arguments, check_nothing, find_parts);
    to_file(arguments.file).write(call.layout, call.parts, call.region);
  });
}

template <typename Find>
plait_status append(const AccessArguments& arguments, int axis, Find&& find_parts) {
  return guarded(arguments.file, [&] {
    const auto call = make_request<ConstPart>(arguments, check_nothing, find_parts);
    to_file(arguments.file).append(call.layout, call.parts, axis);
  });
}

plait::Request begin_read(File& file, PartsRequest<MutablePart>& call) {
  return file.start_read(call.layout, std::move(call.parts), call.region, call.fill_halo);
}

plait::Request begin_write(File& file, PartsRequest<ConstPart>& call) {
  return file.start_write(call.layout, std::move(call.parts), call.region);
}

}  // namespace

plait_status plait_read(plait_file* file, const plait_layout* layout, void* data, int64_t bytes) {
  return read({file, layout, nullptr}, find_dense(data, bytes));
}

plait_status plait_read_parts(plait_file* file, const plait_layout* layout, const plait_part* parts, int64_t count,
                              const plait_access* access) {
  return read({file, layout, access}, find_listed(parts, count));
}

plait_status plait_write(plait_file* file, const plait_layout* layout, const void* data, int64_t bytes) {
  return write({file, layout, nullptr}, find_dense(data, bytes));
}

plait_status plait_write_parts(plait_file* file, const plait_layout* layout, const plait_const_part* parts,
                               int64_t count, const plait_access* access) {
  return write({file, layout, access}, find_listed(parts, count));
}

plait_status plait_append(plait_file* file, const plait_layout* layout, const void* data, int64_t bytes, int axis) {
  return append({file, layout, nullptr}, axis, find_dense(data, bytes));
}

plait_status plait_append_parts(plait_file* file, const plait_layout* layout, const plait_const_part* parts,
                                int64_t count, int axis) {
  return append({file, layout, nullptr}, axis, find_listed(parts, count));
}

plait_status plait_resize(plait_file* file, int dimensions, const int64_t* shape) {
  return guarded(file, [&] {
    File& file_object = to_file(file);
    const auto report = [&](const std::string& message, int code) { file_object.fail(message, code); };
    file_object.resize(run_checks(report, [&] { return to_extents(shape, dimensions, "shape"); }));
  });
}

plait_status plait_start_read(plait_file* file, const plait_layout* layout, void* data, int64_t bytes,
                              plait_request** request) {
  return start<MutablePart>({file, layout, nullptr}, request, find_dense(data, bytes), begin_read);
}

plait_status plait_start_read_parts(plait_file* file, const plait_layout* layout, const plait_part* parts,
                                    int64_t count, const plait_access* access, plait_request** request) {
  return start<MutablePart>({file, layout, access}, request, find_listed(parts, count), begin_read);
}

plait_status plait_start_write(plait_file* file, const plait_layout* layout, const void* data, int64_t bytes,
                               plait_request** request) {
  return start<ConstPart>({file, layout, nullptr}, request, find_dense(data, bytes), begin_write);
}

plait_status plait_start_write_parts(plait_file* file, const plait_layout* layout, const plait_const_part* parts,
                                     int64_t count, const plait_access* access, plait_request** request) {
  return start<ConstPart>({file, layout, access}, request, find_listed(parts, count), begin_write);
}

plait_status plait_explain(const plait_file* file, const plait_layout* layout, const plait_access* access, int write,
                           char** text) {
  if (text != nullptr) *text = nullptr;
  return guarded(file, [&] {
    const plait_access options = copy_options(access, "plait_access");
    store_text(text, "text", [&] {
      return to_file(file).explain(to_layout(layout), to_region(options), write != 0, options.fill_halo != 0);
    });
  });
}
