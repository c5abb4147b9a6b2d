// The functions that the preloaded library calls, and the table of open files.

#include "mpiio/entry.h"

#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>

#include "mpiio/open_file.hpp"

namespace plait::mpiio {

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

void on_open(const plait_mpiio_opened* opened) {
  run([&] { FileTable::instance().add(opened->file, std::make_shared<OpenFile>(*opened)); });
}

void on_close(MPI_File handle) {
  run([&] {
    if (const std::shared_ptr<OpenFile> file = FileTable::instance().remove(handle)) file->report();
  });
}

void on_view(const plait_mpiio_view* view) {
  run([&] {
    if (const std::shared_ptr<OpenFile> file = FileTable::instance().find(view->file)) file->start_view(*view);
  });
}

void on_viewed(MPI_File handle, int has_succeeded) {
  run([&] {
    if (const std::shared_ptr<OpenFile> file = FileTable::instance().find(handle)) file->finish_view(has_succeeded != 0);
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

}  // namespace

}  // namespace plait::mpiio

extern "C" __attribute__((visibility("default"))) const plait_mpiio_functions* plait_mpiio_entry() {
  static constexpr plait_mpiio_functions kFunctions = {plait::mpiio::on_open, plait::mpiio::on_close,
                                                       plait::mpiio::on_view, plait::mpiio::on_viewed,
                                                       plait::mpiio::on_access, plait::mpiio::on_end};
  return &kFunctions;
}
