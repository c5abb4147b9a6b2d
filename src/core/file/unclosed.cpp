#include "core/file/unclosed.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace plait::core {

thread_local int Untold::depth_ = 0;

/// All that are watched for in this process.
struct NewFiles {
  std::mutex mutex;
  std::condition_variable cleared;
  std::set<NewFileWatch*> all;
  const NewFileWatch* clearing = nullptr;  // what at_exit() removes now: it waits for that, nothing else does
  std::thread::id clearer;

  static NewFiles& instance() {
    static base::PerProcess<NewFiles> kept;
    return kept.get();
  }

  /// Nothing is locked while a file is removed: that may take long, and may end what is watched for.
  static void at_exit() {
    NewFiles& files = instance();
    std::unique_lock lock(files.mutex);
    files.clearer = std::this_thread::get_id();
    while (!files.all.empty()) {
      NewFileWatch* const watch = *files.all.begin();
      files.all.erase(files.all.begin());
      watch->watching_ = false;
      files.clearing = watch;
      lock.unlock();
      watch->tell();
      if (watch->clear_) watch->clear_();
      lock.lock();
      files.clearing = nullptr;
      files.cleared.notify_all();
    }
  }

  /// Returns whether `watch` was still watching.  What clears it is then over, unless that calls this.
  bool end(NewFileWatch& watch) {
    std::unique_lock lock(mutex);
    cleared.wait(lock, [&] { return clearing != &watch || clearer == std::this_thread::get_id(); });
    all.erase(&watch);
    return std::exchange(watch.watching_, false);
  }
};

NewFileWatch::~NewFileWatch() {
  if (!begun_ || !owner_.here()) return;
  if (NewFiles::instance().end(*this) && !Untold::here() && std::uncaught_exceptions() <= exceptions_) tell();
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
  begun_ = true;
} catch (const std::exception&) {  // the file itself is as good
}

void NewFileWatch::end() noexcept {
  if (begun_ && owner_.here()) NewFiles::instance().end(*this);
}

void NewFileWatch::tell() const noexcept {
  std::fprintf(stderr, "plait: %s was opened in mode w and never closed: %s; close it (in Python a with block does)\n",
               name_.c_str(),
               name_.starts_with("pipe:") ? "its readers get an error" : "nothing was written under that name");
}

}  // namespace plait::core
