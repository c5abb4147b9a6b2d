/// Warnings about new files that the program never closes.
#pragma once

#include <functional>
#include <string>

#include "base/process.hpp"

namespace plait::core {

/// A new file under construction, in the process that makes it.
///
/// If the file is neither closed nor abandoned before the watch is destroyed or the program ends, a line on the
/// standard error warns of that, once.  Forked children do not warn, and neither does a destructor that an exception
/// runs.
class NewFileWatch {
 public:
  NewFileWatch() = default;
  ~NewFileWatch();
  NewFileWatch(const NewFileWatch&) = delete;
  NewFileWatch& operator=(const NewFileWatch&) = delete;

  /// Begins the watch.  clear: called after the warning if the program ends; it removes the unfinished file, if it can.
  /// Without memory there is no warning.
  void begin(const std::string& name, std::function<void()> clear = nullptr) noexcept;
  /// Ends the watch: the file has been closed or abandoned.
  void end() noexcept;

 private:
  friend class NewFiles;
  void warn() const noexcept;

  base::Owner owner_;
  bool has_begun_ = false;
  bool is_watching_ = false;  // guarded by the lock of NewFiles
  std::string name_;
  int exceptions_ = 0;  // exceptions in progress when the watch began
  std::function<void()> clear_;
};

/// A scope in which this thread creates and destroys new files without warnings: the caller itself warns, or watches a
/// larger object that the file is a part of.
class SilentScope {
 public:
  SilentScope() noexcept { ++depth_; }
  ~SilentScope() { --depth_; }
  SilentScope(const SilentScope&) = delete;
  SilentScope& operator=(const SilentScope&) = delete;
  static bool is_active() noexcept { return depth_ > 0; }

 private:
  static thread_local int depth_;
};

}  // namespace plait::core
