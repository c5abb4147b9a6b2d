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
    files.clearing_thread_ = std::this_thread::get_id();
    while (!files.watches_.empty()) {
      NewFileWatch* const watch = *files.watches_.begin();
      files.watches_.erase(files.watches_.begin());
      watch->is_watching_ = false;
      files.cleared_watch_ = watch;
      lock.unlock();
      watch->warn();
      if (watch->clear_) watch->clear_();
      lock.lock();
      files.cleared_watch_ = nullptr;
      files.watch_cleared_.notify_all();
    }
  }

  void begin(NewFileWatch& watch) {
    const std::scoped_lock lock(mutex_);
    watches_.insert(&watch);
    watch.is_watching_ = true;
    watch.has_begun_ = true;
  }

  /// Ends a watch.  Returns true if `watch` was still watching.  Its clear function has ended then, unless it is the
  /// caller.
  bool end(NewFileWatch& watch) {
    std::unique_lock lock(mutex_);
    watch_cleared_.wait(lock,
                        [&] { return cleared_watch_ != &watch || clearing_thread_ == std::this_thread::get_id(); });
    watches_.erase(&watch);
    return std::exchange(watch.is_watching_, false);
  }

 private:
  std::mutex mutex_;
  std::condition_variable watch_cleared_;
  std::set<NewFileWatch*> watches_;
  const NewFileWatch* cleared_watch_ = nullptr;  // the watch that at_exit() clears now; end() waits for it
  std::thread::id clearing_thread_;
};

NewFileWatch::~NewFileWatch() {
  if (!has_begun_ || !owner_.here()) return;
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
  if (has_begun_ && owner_.here()) NewFiles::instance().end(*this);
}

void NewFileWatch::warn() const noexcept {
  std::fprintf(stderr, "plait: %s was opened in mode w and never closed: %s; close it (in Python a with block does)\n",
               name_.c_str(),
               name_.starts_with("pipe:") ? "its readers get an error" : "nothing was written under that name");
}

}  // namespace plait::core
