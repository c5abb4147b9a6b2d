// Resolves paths to absolute ones, and examines component files.

#include "driver/resolved_name.hpp"

#include <filesystem>
#include <system_error>

namespace plait::driver {

namespace fs = std::filesystem;

std::string real_path(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return path;  // the working directory does not exist any more
  const fs::path real = fs::weakly_canonical(absolute, error);
  return (error ? absolute.lexically_normal() : real).string();
}

ComponentFile component_file(const std::string& path) {
  ComponentFile component;
  component.path = real_path(path);
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (!error) component.bytes = static_cast<std::int64_t>(bytes);
  return component;
}

}  // namespace plait::driver
