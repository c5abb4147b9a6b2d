/// The functions of Shared Files, wrapped for each language. They return codes and throw nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "files.hpp"

namespace plait::ga {

int create_file(const CreateArguments& arguments, int& handle) noexcept;
int destroy_file(std::int64_t handle) noexcept;
int close_file(std::int64_t handle) noexcept;
int open_file(std::int64_t handle) noexcept;
int make_read_only(std::int64_t handle) noexcept;
int sync_file(std::int64_t handle) noexcept;

/// The id is kNoId after an error.
int start_write(std::int64_t handle, double offset, double bytes, const void* buffer, int& id) noexcept;
int start_read(std::int64_t handle, double offset, double bytes, void* buffer, int& id) noexcept;
int wait(std::int64_t id) noexcept;

/// Waits for all requests and sets them to kNoId. Integer has 4 or 8 bytes.
template <typename Integer>
int wait_all(Integer* ids, std::int64_t count) noexcept;

/// Records an error about an argument of a call, and returns its code.
int reject_argument(const char* message) noexcept;

/// Writes the text of a code to a buffer. Returns the number of characters.
std::size_t put_text(std::int64_t code, char* buffer, std::size_t capacity) noexcept;

}  // namespace plait::ga
