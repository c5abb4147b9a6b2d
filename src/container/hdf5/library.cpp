// Loading the HDF5 library, and the order of locks around it.
//
// The library is loaded at run time, because h5py and netCDF4 bring copies of it, and a process must use only one: two
// copies would not share their open files.
//
// The library is not thread-safe. A mutex serializes Plait's calls, and other users such as h5py have another lock
// (LibraryHooks). Plait acquires the lock of the other users first, then the mutex.
// Example: with the reverse order, thread A holds h5py's lock and calls a function of Plait, which waits for the mutex.
// Thread B holds the mutex and waits for h5py's lock: a deadlock.

#include "container/hdf5/library.hpp"

#include <dlfcn.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/hdf5/library_hooks.hpp"

namespace plait::container::hdf5 {

namespace {

/// File names of the releases that have PLAIT_HDF5_FUNCTIONS: 2.x, 1.14, 1.12, 1.10. Debian adds `_serial` to some.
constexpr std::array kSystemNames{"libhdf5.so.320", "libhdf5.so.310", "libhdf5_serial.so.310",
                                  "libhdf5.so.200", "libhdf5.so.103", "libhdf5_serial.so.103",
                                  "libhdf5.so"};

/// The library of this process.
struct LoadedLibrary {
  Functions functions;
  std::string path;
  std::array<unsigned, 3> version{};
  bool has_plugins = false;  ///< true once the folder of plug-ins has been added
};

std::recursive_mutex& mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

LibraryHooks& library_hooks() {
  static LibraryHooks library_hooks;
  return library_hooks;
}

/// Stores the address of a function in `into`. Returns false if the library does not have it.
template <typename Function>
bool find_function(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  return into != nullptr;
}

[[noreturn]] void throw_unusable(const std::string& path, const std::string& why) {
  base::throw_system_error(ELIBACC, "the HDF5 library ", path, " cannot be used: ", why,
                           "; name another one, of version 1.10.5 or later, in PLAIT_HDF5, or install h5py for Python");
}

/// Looks up all functions of a library, and initializes it.  errors  kSystem: it is too old, or does not start.
LoadedLibrary initialize(void* library, const std::string& path) {
  LoadedLibrary loaded_library;
  loaded_library.path = path;
  Functions& functions = loaded_library.functions;
  const char* missing = nullptr;
#define PLAIT_HDF5_FIND(NAME) \
  if (!find_function(library, #NAME, functions.NAME) && missing == nullptr) missing = #NAME;
  PLAIT_HDF5_FUNCTIONS(PLAIT_HDF5_FIND)
#undef PLAIT_HDF5_FIND
  if (missing != nullptr) throw_unusable(path, base::text("it has no ", missing));
#define PLAIT_HDF5_FIND(NAME) find_function(library, #NAME, functions.NAME);
  PLAIT_HDF5_VERSIONED_FUNCTIONS(PLAIT_HDF5_FIND)
#undef PLAIT_HDF5_FIND
  if (functions.H5Literate == nullptr && functions.H5Literate2 == nullptr)
    throw_unusable(path, "it has no H5Literate2");
  if (functions.H5Oget_info2 == nullptr && functions.H5Oget_info3 == nullptr)
    throw_unusable(path, "it has no H5Oget_info3");
  if (functions.H5open() < 0) throw_unusable(path, "it does not start");
#define PLAIT_HDF5_FIND(NAME)                        \
  if (const void* at = ::dlsym(library, #NAME))      \
    functions.NAME = *static_cast<const hid_t*>(at); \
  else                                               \
    throw_unusable(path, "it has no " #NAME);
  PLAIT_HDF5_CONSTANTS(PLAIT_HDF5_FIND)
#undef PLAIT_HDF5_FIND
  auto& [major, minor, release] = loaded_library.version;
  functions.H5get_libversion(&major, &minor, &release);
  return loaded_library;
}

/// Loads the library that the setting or the hooks name, or the system's.
LoadedLibrary load() {
  const char* setting = std::getenv("PLAIT_HDF5");
  const std::string path = setting != nullptr && *setting != '\0' ? std::string(setting) : library_hooks().library();
  if (!path.empty()) {
    if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return initialize(library, path);
    const char* why = ::dlerror();
    throw_unusable(path, why == nullptr ? "it cannot be loaded" : why);
  }
  std::string names;
  for (const char* name : kSystemNames) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return initialize(library, name);
    base::append_parts(names, names.empty() ? "" : ", ", name);
  }
  base::throw_system_error(
      ELIBACC, "reading and writing HDF5 and netCDF-4 files takes the HDF5 library, and there is none (", names,
      "); install h5py for Python, or the system's (Debian: libhdf5-103-1), or name one in "
      "PLAIT_HDF5");
}

/// Returns the library of this process; empty before the first use.
std::optional<LoadedLibrary>& loaded() {
  static std::optional<LoadedLibrary> loaded;
  return loaded;
}

}  // namespace

void set_library_hooks(LibraryHooks hooks) { library_hooks() = std::move(hooks); }

Library::Library() {
  // The lock of other users comes first: a thread that holds it may be about to wait for this mutex.
  library_hooks().enter();
  try {
    lock_ = std::unique_lock(mutex());
    if (!loaded()) loaded() = load();
  } catch (...) {
    library_hooks().leave();
    throw;
  }
  functions_ = &loaded()->functions;
  functions_->H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
  functions_->H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Library::~Library() {
  functions_->H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_);
  lock_.unlock();
  library_hooks().leave();
}

bool Library::is_at_least(unsigned major, unsigned minor, unsigned release) const {
  return loaded()->version >= std::array{major, minor, release};
}

std::string Library::describe() const {
  const auto& [major, minor, release] = loaded()->version;
  return base::text("HDF5 ", major, '.', minor, '.', release, " (", loaded()->path, ')');
}

std::string Library::last_error() const {
  std::string message;
  functions_->H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      // The first record is that of the innermost function, which states the cause. Reading its description is safe
      // with any release: it is the last member of the record in all of them.
      [](unsigned, const H5E_error2_t* record, void* out) {
        const char* description = record->desc;
        auto& first_message = *static_cast<std::string*>(out);
        if (first_message.empty() && description != nullptr) first_message = base::text(" (", description, ')');
        return 0;
      },
      &message);
  return message;
}

std::optional<Library::Location> Library::location(hid_t object) const {
  if (functions_->H5Oget_info3 == nullptr) {
    ObjectInfo info{};
    if (functions_->H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) return {};
    return Location{info.fileno, info.addr};
  }
  ObjectInfo2 info{};
  if (functions_->H5Oget_info3(object, &info, H5O_INFO_BASIC) < 0) return {};
  std::uint64_t address = 0;  // the token of an object in an HDF5 file begins with its address
  std::memcpy(&address, info.token, sizeof address);
  return Location{info.file, address};
}

std::optional<haddr_t> Library::address(hid_t object) const {
  const std::optional<Location> found = location(object);
  return found ? std::optional(found->address) : std::nullopt;
}

void Library::add_plugins() const {
  if (std::exchange(loaded()->has_plugins, true)) return;
  const std::string folder = library_hooks().plugins();
  if (!folder.empty()) functions_->H5PLappend(folder.c_str());
}

bool Library::has_filter(unsigned id) const {
  add_plugins();
  return functions_->H5Zfilter_avail(static_cast<H5Z_filter_t>(id)) > 0;
}

}  // namespace plait::container::hdf5
