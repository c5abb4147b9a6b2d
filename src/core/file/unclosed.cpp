#include "core/file/unclosed.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <set>
#include <utility>

namespace plait::core {

thread_local int Untold::depth_ = 0;

/// All that are watched for in this process.
struct NewFiles {
  std::mutex mutex;
  std::set<NewFileWatch*> all;

  static NewFiles& instance() {
    static base::PerProcess<NewFiles> kept;
    return kept.get();
  }

  static void at_exit() {
    NewFiles& files = instance();
    const std::scoped_lock lock(files.mutex);
    for (NewFileWatch* watch : files.all) {
      watch->tell();
      watch->watching_ = false;
      if (watch->clear_) watch->clear_();
    }
    files.all.clear();
  }
};

NewFileWatch::~NewFileWatch() {
  if (!owner_.here() || !watching_) return;
  if (!Untold::here() && std::uncaught_exceptions() <= exceptions_) tell();
  end();
}

void NewFileWatch::begin(const std::string& name, std::function<void()> clear) noexcept try {
  if (Untold::here()) return;
  // Once, for the children of this process as well.
  [[maybe_unused]] static const int registered = std::atexit(NewFiles::at_exit);
  name_ = name;
  clear_ = std::move(clear);
  exceptions_ = std::uncaught_exceptions();
  NewFiles& files = NewFiles::instance();
  const std::scoped_lock lock(files.mutex);
  files.all.insert(this);
  watching_ = true;
} catch (const std::exception&) {  // the file itself is as good
}

void NewFileWatch::end() noexcept {
  if (!owner_.here()) return;
  NewFiles& files = NewFiles::instance();
  const std::scoped_lock lock(files.mutex);
  files.all.erase(this);
  watching_ = false;
}

void NewFileWatch::tell() const noexcept {
  std::fprintf(stderr,
               "plait: %s was opened in mode w and never closed: nothing was written under that name; close it (in "
               "Python a with block does)\n",
               name_.c_str());
}

}  // namespace plait::core
