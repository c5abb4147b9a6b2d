// Runs the ranks of a job without MPI as threads, each of which behaves as one process.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "transport/local/local_transport.hpp"
#include "transport/transport.hpp"

namespace job_case {

/// A folder in which the ranks of a job find each other; PLAIT_MEET names it during the lifetime of this object.
class MeetingFolder {
 public:
  MeetingFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "plait-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    ::setenv("PLAIT_MEET", name.c_str(), 1);
  }
  ~MeetingFolder() {
    ::unsetenv("PLAIT_MEET");
    std::error_code ignored;
    EXPECT_TRUE(std::filesystem::is_empty(folder_, ignored)) << "a job has left files in the meeting folder";
    std::filesystem::remove_all(folder_, ignored);
  }
  MeetingFolder(const MeetingFolder&) = delete;
  MeetingFolder& operator=(const MeetingFolder&) = delete;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// Runs `body` on each rank of a job, and rethrows the error of the first rank that threw one.
inline void run_job(int workers, const std::function<void(plait::transport::Transport&)>& body) {
  const MeetingFolder meeting_folder;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(workers));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < workers; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const auto transport =
            plait::transport::local::make_transport({"case", workers, rank}, std::chrono::seconds(60));
        body(*transport);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace job_case
