#include "store/objects/s3/credentials/profile.hpp"

#include <cstdlib>
#include <fstream>
#include <string_view>

namespace plait::store::s3 {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::string file_path(const char* variable, const char* name) {
  if (const std::string path = environment(variable); !path.empty()) return path;
  const char* const user = std::getenv("HOME");
  return user == nullptr ? std::string() : std::string(user) + name;
}

/// Adds the settings of a section of a file. Returns false if there is no such section.
/// Example of a file: "[profile lab]\nregion = eu-west-1\n".
bool read_section(const std::string& path, const std::string& section, Settings& settings) {
  std::ifstream file(path);
  bool inside = false;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    const std::string_view content = trimmed(line);
    if (content.empty() || content.starts_with('#') || content.starts_with(';')) continue;
    if (content.starts_with('[')) {
      inside = content.ends_with(']') && trimmed(content.substr(1, content.size() - 2)) == section;
      found = found || inside;
      continue;
    }
    const std::size_t equals = content.find('=');
    // Lines of nested settings are indented.
    if (!inside || equals == std::string_view::npos || line.starts_with(' ') || line.starts_with('\t')) continue;
    settings[std::string(trimmed(content.substr(0, equals)))] = trimmed(content.substr(equals + 1));
  }
  return found;
}

}  // namespace

std::string setting(const Profile& profile, const char* key) {
  const auto at = profile.settings.find(key);
  return at == profile.settings.end() ? std::string() : at->second;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::optional<Settings> read_profile(const std::string& profile) {
  Settings settings;
  const std::string section = profile == "default" ? profile : "profile " + profile;
  const bool in_config = read_section(file_path("AWS_CONFIG_FILE", "/.aws/config"), section, settings);
  const bool in_credentials =
      read_section(file_path("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"), profile, settings);
  return in_config || in_credentials ? std::optional(settings) : std::nullopt;
}

}  // namespace plait::store::s3
