// The functions that the preloaded library calls, and the table of open files.

#include "mpiio/entry.h"

#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>

#include "mpiio/open_file.hpp"
#include "mpiio/real_calls.hpp"

namespace plait::mpiio {

RealCalls& real_calls() {
  static RealCalls calls;
  return calls;
}

namespace {

/// The files that are open, by their handles. Never destroyed: a program may end without closing its files, and after
/// MPI has ended their communicators cannot be freed.
class FileTable {
 public:
  static FileTable& instance() {
    static auto* const table = new FileTable;
    return *table;
  }
  void add(MPI_File handle, std::shared_ptr<OpenFile> file) {
    const std::scoped_lock lock(mutex_);
    files_[handle] = std::move(file);
  }
  std::shared_ptr<OpenFile> find(MPI_File handle) {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(handle);
    return found == files_.end() ? nullptr : found->second;
  }
  std::shared_ptr<OpenFile> remove(MPI_File handle) {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(handle);
    if (found == files_.end()) return nullptr;
    std::shared_ptr<OpenFile> file = std::move(found->second);
    files_.erase(found);
    return file;
  }

 private:
  std::mutex mutex_;
  std::map<MPI_File, std::shared_ptr<OpenFile>> files_;
};

/// Ends the program if this rank alone fails: the others are in a collective call, or have decided otherwise.
template <class Body>
void run(const Body& body) {
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plait mpiio: a rank has failed alone, so the program ends: %s\n", error.what());
    PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_OTHER);
  }
}

void on_opening(plait_mpiio_ranks* ranks, int tag) {
  if (ranks->has_comm == 0 || !AgreementBoard::begins_at(tag)) return;
  run([&] {
    auto board = std::make_unique<std::shared_ptr<AgreementBoard>>(make_board(ranks->comm, tag));
    if (ranks->board != nullptr) ranks->free_board(ranks->board);
    ranks->board = board.release();
    ranks->free_board = [](void* former) { delete static_cast<std::shared_ptr<AgreementBoard>*>(former); };
  });
}

void on_open(const plait_mpiio_opened* opened) {
  run([&] { FileTable::instance().add(opened->file, std::make_shared<OpenFile>(*opened)); });
}

void on_close(MPI_File handle) {
  run([&] {
    if (const std::shared_ptr<OpenFile> file = FileTable::instance().remove(handle)) file->report();
  });
}

int on_view(const plait_mpiio_view* view) {
  bool is_held = false;
  run([&] {
    if (const std::shared_ptr<OpenFile> file = FileTable::instance().find(view->file))
      is_held = file->start_view(*view);
  });
  return is_held ? 1 : 0;
}

void on_viewed(MPI_File handle, int has_succeeded) {
  run([&] {
    if (const std::shared_ptr<OpenFile> file = FileTable::instance().find(handle))
      file->finish_view(has_succeeded != 0);
  });
}

int on_access(const plait_mpiio_access* access, int* code) {
  bool is_done = false;
  run([&] {
    if (const std::shared_ptr<OpenFile> file = FileTable::instance().find(access->file))
      is_done = file->access(*access, *code);
  });
  return is_done ? 1 : 0;
}

int on_end(MPI_File handle, int writes, MPI_Status* status) {
  bool is_done = false;
  run([&] {
    if (const std::shared_ptr<OpenFile> file = FileTable::instance().find(handle))
      is_done = file->end(writes != 0, status);
  });
  return is_done ? 1 : 0;
}

template <class Function>
void find_real(Function& function, void* found) {
  function = reinterpret_cast<Function>(found);
}

/// A call on a handle of this rank alone.
struct RoutedCall {
  std::shared_ptr<OpenFile> file;
  std::shared_ptr<HeldView> view;
};

int on_route(MPI_File handle, plait_mpiio_use use, MPI_File* target, void** call) {
  int code = MPI_SUCCESS;
  *target = handle;
  *call = nullptr;
  run([&] {
    const std::shared_ptr<OpenFile> file = FileTable::instance().find(handle);
    if (!file) return;
    std::shared_ptr<HeldView> view;
    code = file->route(use, *target, view);
    if (view) *call = new RoutedCall{file, std::move(view)};
  });
  return code;
}

int on_routed(void* call, plait_mpiio_use use, int code) {
  run([&] {
    const std::unique_ptr<RoutedCall> routed(static_cast<RoutedCall*>(call));
    code = routed->file->routed(use, *routed->view, code);
  });
  return code;
}

int on_seek(MPI_File handle, MPI_Offset offset, int whence) {
  bool is_done = false;
  run([&] {
    const std::shared_ptr<OpenFile> file = FileTable::instance().find(handle);
    const std::shared_ptr<HeldView> view = file ? file->held() : nullptr;
    is_done = view && view->seek(offset, whence);
  });
  return is_done ? 1 : 0;
}

int on_position(MPI_File handle, MPI_Offset* position) {
  bool is_known = false;
  run([&] {
    const std::shared_ptr<OpenFile> file = FileTable::instance().find(handle);
    const std::shared_ptr<HeldView> view = file ? file->held() : nullptr;
    is_known = view && view->position(*position);
  });
  return is_known ? 1 : 0;
}

int on_get_view(MPI_File handle, const plait_mpiio_stored_view* stored, int* code) {
  bool is_known = false;
  run([&] {
    const std::shared_ptr<OpenFile> file = FileTable::instance().find(handle);
    const std::shared_ptr<HeldView> view = file ? file->held() : nullptr;
    is_known = view != nullptr;
    if (is_known) *code = view->get(*stored);
  });
  return is_known ? 1 : 0;
}

}  // namespace

}  // namespace plait::mpiio

extern "C" __attribute__((visibility("default"))) const plait_mpiio_functions* plait_mpiio_entry(
    void* (*find)(const char*)) {
  using namespace plait::mpiio;
  find_real(real_calls().open, find("PMPI_File_open"));
  find_real(real_calls().close, find("PMPI_File_close"));
  find_real(real_calls().set_view, find("PMPI_File_set_view"));
  find_real(real_calls().seek, find("PMPI_File_seek"));
  find_real(real_calls().get_position, find("PMPI_File_get_position"));
  static const plait_mpiio_functions kFunctions = {.opening = on_opening,
                                                   .opened = on_open,
                                                   .closing = on_close,
                                                   .viewing = on_view,
                                                   .viewed = on_viewed,
                                                   .access = on_access,
                                                   .ended = on_end,
                                                   .held = held_view_count(),
                                                   .route = on_route,
                                                   .routed = on_routed,
                                                   .seek = on_seek,
                                                   .position = on_position,
                                                   .view = on_get_view};
  return &kFunctions;
}
