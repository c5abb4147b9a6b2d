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

thread_local int SilentScope::depth_ = 0;

/// All watched files of this process.
class NewFiles {
 public:
  static NewFiles& instance() {
    static base::PerProcess<NewFiles> instance;
    return instance.get();
  }

  /// Warns about all watched files and removes them.  No lock is held while a file is removed, because that may take
  /// long and may end another watch.
  static void at_exit() {
    NewFiles& files = instance();
    std::unique_lock lock(files.mutex_);
    files.clearer_ = std::this_thread::get_id();
    while (!files.all_.empty()) {
      NewFileWatch* const watch = *files.all_.begin();
      files.all_.erase(files.all_.begin());
      watch->watching_ = false;
      files.clearing_ = watch;
      lock.unlock();
      watch->warn();
      if (watch->clear_) watch->clear_();
      lock.lock();
      files.clearing_ = nullptr;
      files.cleared_.notify_all();
    }
  }

  void begin(NewFileWatch& watch) {
    const std::scoped_lock lock(mutex_);
    all_.insert(&watch);
    watch.watching_ = true;
    watch.begun_ = true;
  }

  /// Ends a watch.  Returns true if `watch` was still watching.  Its clear function has ended then, unless it is the
  /// caller.
  bool end(NewFileWatch& watch) {
    std::unique_lock lock(mutex_);
    cleared_.wait(lock, [&] { return clearing_ != &watch || clearer_ == std::this_thread::get_id(); });
    all_.erase(&watch);
    return std::exchange(watch.watching_, false);
  }

 private:
  std::mutex mutex_;
  std::condition_variable cleared_;
  std::set<NewFileWatch*> all_;
  const NewFileWatch* clearing_ = nullptr;  // the watch that at_exit() clears now; end() waits for it
  std::thread::id clearer_;
};

NewFileWatch::~NewFileWatch() {
  if (!begun_ || !owner_.here()) return;
  if (NewFiles::instance().end(*this) && !SilentScope::is_active() && std::uncaught_exceptions() <= exceptions_) warn();
}

void NewFileWatch::begin(const std::string& name, std::function<void()> clear) noexcept try {
  if (SilentScope::is_active()) return;
  // Registered once, also for the children of this process.
  [[maybe_unused]] static const int registered = std::atexit(NewFiles::at_exit);
  name_ = name;
  clear_ = std::move(clear);
  exceptions_ = std::uncaught_exceptions();
  NewFiles::instance().begin(*this);
} catch (const std::exception&) {  // without memory there is no warning, but the file works
}

void NewFileWatch::end() noexcept {
  if (begun_ && owner_.here()) NewFiles::instance().end(*this);
}

void NewFileWatch::warn() const noexcept {
  std::fprintf(stderr, "plait: %s was opened in mode w and never closed: %s; close it (in Python a with block does)\n",
               name_.c_str(),
               name_.starts_with("pipe:") ? "its readers get an error" : "nothing was written under that name");
}

}  // namespace plait::core
