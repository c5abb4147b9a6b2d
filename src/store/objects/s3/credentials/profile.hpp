/// Settings of AWS in environment variables and in the files ~/.aws/config and ~/.aws/credentials.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace plait::store::s3 {

using Settings = std::map<std::string, std::string>;

/// A section of the files.
struct Profile {
  std::string name;
  bool is_option = false;  ///< the name of the array states the profile
  Settings settings;
};

/// Returns a setting; empty if the profile does not have it.
std::string setting(const Profile& profile, const char* key);

/// Returns the value of an environment variable; empty if there is none.
std::string environment(const char* name);

/// Returns the settings of a profile; nothing if no file has it.
std::optional<Settings> read_profile(const std::string& profile);

/// Returns the first value that is not empty.
template <typename... Values>
std::string first_stated(const Values&... values) {
  std::string result;
  ((result.empty() ? void(result = values) : void()), ...);
  return result;
}

}  // namespace plait::store::s3
