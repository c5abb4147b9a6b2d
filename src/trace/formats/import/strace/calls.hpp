/// What the calls in a trace by strace do.
#pragma once

#include <string_view>

namespace plait::trace::strace {

enum class Does : unsigned char {
  kNothing,  ///< that a trace of input and output shows
  kRead,
  kWrite,
  kReadAt,
  kWriteAt,
  kReadVector,
  kWriteVector,
  kReadVectorAt,
  kWriteVectorAt,
  kOpen,
  kOpenAt,
  kCreate,
  kClose,
  kCloseRange,
  kDuplicate,
  kControl,  ///< fcntl, which may duplicate
  kSeek,
  kSeekLong,  ///< _llseek, which hands the position back through an argument
  kTruncate,
  kTruncateOpen,
  kSync,
  kMap,
  kMetadata,
  kMetadataOpen,  ///< of an open file
  kPipe,
  kMake,  ///< a descriptor that is no file
  kSend,  ///< sendfile
  kCopy,  ///< copy_file_range and splice
  kSubmit,
  kRing,
  kFork,
  kExec,
  kLeftRead,   ///< moves data and has no events: received
  kLeftWrite,  ///< sent
  kLeftOther,  ///< how much is not its result
};

/// kNothing where the call is none of these.
Does what_does(std::string_view call);

}  // namespace plait::trace::strace
