/// The functions of Shared Files, for each language to wrap: they return codes, and throw nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "files.hpp"

namespace plait::ga {

int create_file(const Wanted& wanted, int& handle) noexcept;
int destroy_file(std::int64_t handle) noexcept;
int close_file(std::int64_t handle) noexcept;
int open_file(std::int64_t handle) noexcept;
int make_read_only(std::int64_t handle) noexcept;
int sync_file(std::int64_t handle) noexcept;

/// The id is kNoId after an error.
int start_write(std::int64_t handle, double offset, double bytes, const void* buffer, int& id) noexcept;
int start_read(std::int64_t handle, double offset, double bytes, void* buffer, int& id) noexcept;
int wait(std::int64_t id) noexcept;

/// Waits for all of them and makes them kNoId.  Of 4 or 8 bytes.
template <typename Integer>
int wait_all(Integer* ids, std::int64_t count) noexcept;

/// What is wrong with an argument of a call, as an error of it.
int reject_argument(const char* message) noexcept;

/// The text of a code in so many bytes; returns how many it has.
std::size_t put_text(std::int64_t code, char* buffer, std::size_t room) noexcept;

}  // namespace plait::ga
