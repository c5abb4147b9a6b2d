/// The effects of the calls in a trace of strace.
#pragma once

#include <string_view>

namespace plait::trace::strace {

enum class Effect : unsigned char {
  kNothing,  ///< no effect on input and output
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
  kControl,  ///< fcntl, which may duplicate a descriptor
  kSeek,
  kSeekLong,  ///< _llseek, which returns the position through an argument
  kTruncate,
  kTruncateOpen,
  kSync,
  kMap,
  kMetadata,
  kMetadataOpen,  ///< metadata of an open file
  kPipe,
  kMake,  ///< makes a descriptor that is not a file
  kSend,  ///< sendfile
  kCopy,  ///< copy_file_range and splice
  kSubmit,
  kRing,
  kFork,
  kExec,
  kLeftRead,   ///< receives data, but is not converted to an event
  kLeftWrite,  ///< sends data, but is not converted to an event
  kLeftOther,  ///< transfers data, but its result is not the number of bytes
};

/// Returns kNothing if the call is none of these.
Effect what_does(std::string_view call);

}  // namespace plait::trace::strace
