/// The purpose of a file's data: section 5.1's required, checkpoint and data swapping.
#pragma once

#include <string>
#include <vector>

#include "trace/report/report.hpp"

namespace plait::trace::report {

/// Returns the class of a file from its own accesses; kOther if these do not decide.
Class classify(const FileRow& file);

/// Finds checkpoints among files with one pattern of names and one size that are written one after the other with
/// pauses.
void find_checkpoint_groups(std::vector<FileRow>& files);

/// Returns the name with every number replaced by #.
std::string name_pattern(const std::string& name);

}  // namespace plait::trace::report
