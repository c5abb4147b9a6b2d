/// A metadata file as JSON, and functions that read its members or throw errors that name the file.
#pragma once

#include <cerrno>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/layout.hpp"

namespace plait::container::zarr {

class Document {
 public:
  /// Parses the text.  errors  kSystem: it is not JSON, is not an object, or is nested too deeply.
  Document(std::string_view text, const std::string& file);

  const nlohmann::json& root() const { return json_; }
  /// Throws the error that the file is damaged.  errors  kSystem, EIO.
  template <typename... Parts>
  [[noreturn]] void throw_damaged(const Parts&... why) const {
    base::throw_system_error(EIO, "cannot open ", file_, " as Zarr: ", why..., "; copy or download it again");
  }
  /// Throws the error that the array has a property that Plait does not support.  errors  kArgument.
  template <typename... Parts>
  [[noreturn]] void throw_unsupported(const Parts&... what) const {
    base::throw_argument_error(
        file_, ": ", what...,
        ", which Plait does not read; write the array with the codecs bytes and gzip or zstd, in "
        "regular chunks");
  }
  /// Checks the fields of a version 3 document. Readers may ignore unknown fields only if these are objects with
  /// `"must_understand": false` (Zarr core 3.0, "Metadata documents").
  /// errors  kArgument: there is any other unknown field.
  void check_fields(std::span<const std::string_view> known) const;
  /// The following functions call throw_damaged() if the member is missing or has another type.
  const nlohmann::json& get_member(const nlohmann::json& object, const char* name) const;
  std::string get_string(const nlohmann::json& object, const char* name) const;
  Extents get_extents(const nlohmann::json& object, const char* name, std::int64_t minimum) const;

 private:
  nlohmann::json json_;
  const std::string& file_;
};

/// Returns the first 60 bytes of a value's text, for an error.
inline std::string excerpt(const nlohmann::json& value) { return value.dump().substr(0, 60); }

}  // namespace plait::container::zarr
