/// The objects of the handles.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "handle.hpp"
#include "plait/comm.hpp"
#include "plait/conversion.hpp"
#include "plait/distant.hpp"
#include "plait/file.hpp"
#include "plait/layout.hpp"
#include "plait/redistribute.hpp"

struct plait_comm : plait::c::Handle {
  explicit plait_comm(plait::Comm processes) : Handle(/*many_threads=*/true), comm(std::move(processes)) {}
  plait::Comm comm;
};

struct plait_layout : plait::c::Handle {
  explicit plait_layout(plait::Layout object) : Handle(/*many_threads=*/true), layout(std::move(object)) {}
  plait::Layout layout;
};

struct plait_conversion : plait::c::Handle {
  explicit plait_conversion(plait::Conversion object) : Handle(/*many_threads=*/true), conversion(std::move(object)) {}
  plait::Conversion conversion;
};

// The following objects are created empty before a collective call, so that no rank lacks memory after it has
// succeeded.

struct plait_file : plait::c::Handle {
  std::optional<plait::File> file;
  plait::Comm comm;
  plait::Attributes next_attributes;  ///< attributes of the step that plait_begin_step begins next
};

struct plait_redistribution : plait::c::Handle {
  std::optional<plait::Redistribution> plan;
  std::optional<plait::Layout> source;
  std::optional<plait::Layout> target;
  std::int64_t element_bytes = 0;
  plait::Comm comm;
};

struct plait_shared : plait::c::Handle {
  std::optional<plait::SharedMemory> memory;
};

struct plait_dio : plait::c::Handle {
  plait_dio() : Handle(/*many_threads=*/true) {}
  std::optional<plait::DistantFile> file;
};

struct plait_request : plait::c::Handle {
  std::function<std::int64_t()> wait;  ///< returns the elements of a stream's access
  std::function<bool()> test;
  bool counts_elements = false;  ///< true if wait() returns a number of elements
  bool is_received = false;      ///< true if a call has waited and returned the result
};

namespace plait::c {

inline const Comm& to_comm(const plait_comm* comm) {
  return dereference(comm, "comm", "plait_alone() or the handle from plait_comm_from_mpi").comm;
}
inline const Layout& to_layout(const plait_layout* layout, const char* name = "layout") {
  return dereference(layout, name, "the handle from plait_layout_parse").layout;
}
inline File& to_file(plait_file* file) { return *dereference(file, "file", "the handle from plait_open").file; }
inline const File& to_file(const plait_file* file) {
  return *dereference(file, "file", "the handle from plait_open").file;
}

/// Stores a Request in a handle that was created for it.
inline void store_request(plait_request& handle, Request request) {
  auto shared_request = std::make_shared<Request>(std::move(request));
  handle.wait = [shared_request] {
    shared_request->wait();
    return std::int64_t{0};
  };
  handle.test = [shared_request] { return shared_request->test(); };
}

}  // namespace plait::c
