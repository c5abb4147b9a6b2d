/// What a file's data are for: section 5.1's required, checkpoint and data swapping.
#pragma once

#include <string>
#include <vector>

#include "trace/report/report.hpp"

namespace plait::trace::report {

/// By what happened to this file alone; kOther where that does not decide.
Class class_of(const FileRow& file);

/// Files of one pattern of names and of one size, written one after the other with pauses, are checkpoints too.
void find_checkpoint_groups(std::vector<FileRow>& files);

/// The name with every number replaced by #.
std::string pattern_of(const std::string& name);

}  // namespace plait::trace::report
