/// Reads and writes of a File whose arrays go through a channel.
#pragma once

#include <string>
#include <vector>

#include "collective/collective.hpp"
#include "collective/stopwatch.hpp"
#include "copy/local_array.hpp"
#include "core/file/access_plans.hpp"
#include "core/file/channel.hpp"
#include "core/file/context.hpp"
#include "core/file/selected_array.hpp"
#include "core/file/time_steps.hpp"
#include "plait/file.hpp"

namespace plait::core {

/// One read or write of an array of a step.  The arguments of the constructor must outlive it.
class ChannelAccess {
 public:
  ChannelAccess(FileContext& context, Channel& channel, TimeSteps& steps, ArraySelection& selection,
                const AccessRequest& request)
      : context_(context), channel_(channel), steps_(steps), selection_(selection), request_(request) {}

  /// Executes the access.  Collective.
  AccessTimes run();

 private:
  void run_on(transport::Transport& transport);
  std::string describe() const;
  /// Checks the arguments of this process, and makes arrays_ of its parts.
  void prepare();
  /// Reads or writes the arrays within a step.  expected: the type of the array when the program made the call.
  void move(collective::Collective& call, const ArrayType& expected);
  /// errors  kArgument: the array in the step has another type, so that the program's arrays do not fit.
  void check_type(const ArrayType& expected);

  FileContext& context_;
  Channel& channel_;
  TimeSteps& steps_;
  ArraySelection& selection_;
  const AccessRequest& request_;
  std::vector<copy::LocalArray> arrays_;
  collective::Times times_;
};

/// Describes what an access would do.
std::string explain(const Channel& channel, const ArraySelection& selection, const AccessRequest& request,
                    const Comm& comm);

}  // namespace plait::core
