/// Keys from a program.
#pragma once

#include <string>

#include "store/objects/s3/credentials/credentials.hpp"

namespace plait::store::s3 {

/// Runs the `credential_process` of a profile by the shell, and parses the JSON object that it prints. Its standard
/// error is that of this process. It is killed after a minute.
/// errors  kSystem: the program fails, takes too long, or prints something else. The message has neither the command
///         nor the output, which may have secrets.
Credentials run_credential_process(const std::string& command, const std::string& profile);

}  // namespace plait::store::s3
