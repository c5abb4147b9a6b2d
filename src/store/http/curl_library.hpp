/// libcurl, which is loaded when the first request is sent.
///
/// The numbers below are those of <curl/curl.h>. They are part of libcurl's binary interface, which has not changed
/// since version 7.16, so that neither a build nor a wheel needs its headers. tests/cpp/store/http compares them with
/// the headers where these are installed.
#pragma once

#include <cstddef>
#include <string>

namespace plait::store::http {

/// A message about a transfer that has ended (CURLMsg).
struct CurlMessage {
  int kind;  ///< kCurlDone
  void* easy;
  union {
    void* whatever;
    int result;
  } data;
};

/// A descriptor to wait for (struct curl_waitfd).
struct CurlWait {
  int descriptor;
  short events;
  short happened;
};

struct CurlList;

enum CurlOption : int {
  kCurlWriteData = 10001,
  kCurlUrl = 10002,
  kCurlReadData = 10009,
  kCurlErrorBuffer = 10010,
  kCurlUserAgent = 10018,
  kCurlHeaders = 10023,
  kCurlHeaderData = 10029,
  kCurlCustomRequest = 10036,
  kCurlCaFile = 10065,
  kCurlPrivate = 10103,
  kCurlSeekData = 10168,
  kCurlNoProxyHosts = 10177,
  kCurlWriteFunction = 20011,
  kCurlReadFunction = 20012,
  kCurlHeaderFunction = 20079,
  kCurlSeekFunction = 20167,
  kCurlUploadBytes = 30115,
  kCurlLowSpeedLimit = 19,
  kCurlLowSpeedTime = 20,
  kCurlNoBody = 44,
  kCurlUpload = 46,
  kCurlFollow = 52,
  kCurlMaxRedirects = 68,
  kCurlHttpVersion = 84,
  kCurlBufferBytes = 98,
  kCurlNoSignal = 99,
  kCurlTimeout = 155,
  kCurlConnectTimeout = 156,
  kCurlProtocols = 181,
  kCurlRedirectProtocols = 182,
  kCurlPathAsIs = 234,
  kCurlUploadBufferBytes = 280
};

enum CurlInfo : int { kCurlStatus = 0x200002, kCurlGetPrivate = 0x100015 };

enum CurlMultiOption : int { kCurlMaxConnects = 6 };

/// Results of transfers (CURLcode).
enum CurlResult : int {
  kCurlOk = 0,
  kCurlNoProxy = 5,
  kCurlNoHost = 6,
  kCurlNotConnected = 7,
  kCurlPartial = 18,
  kCurlWriteError = 23,
  kCurlTimedOut = 28,
  kCurlTls = 35,
  kCurlNothing = 52,
  kCurlSendError = 55,
  kCurlReceiveError = 56,
  kCurlCertificate = 60
};

inline constexpr int kCurlDone = 1;          ///< CURLMSG_DONE
inline constexpr long kCurlHttp11 = 2;       ///< CURL_HTTP_VERSION_1_1
inline constexpr long kCurlHttpOrTls = 3;    ///< CURLPROTO_HTTP | CURLPROTO_HTTPS
inline constexpr long kCurlAll = 3;          ///< CURL_GLOBAL_ALL
inline constexpr short kCurlReadable = 1;    ///< CURL_WAIT_POLLIN
inline constexpr int kCurlErrorBytes = 256;  ///< CURL_ERROR_SIZE

/// The functions of libcurl. Handles are pointers without a type.
struct CurlLibrary {
  int (*curl_global_init)(long);
  void* (*curl_easy_init)();
  void (*curl_easy_reset)(void*);
  int (*curl_easy_setopt)(void*, int, ...);
  int (*curl_easy_getinfo)(void*, int, ...);
  const char* (*curl_easy_strerror)(int);
  void* (*curl_multi_init)();
  int (*curl_multi_cleanup)(void*);
  int (*curl_multi_setopt)(void*, int, ...);
  int (*curl_multi_add_handle)(void*, void*);
  int (*curl_multi_remove_handle)(void*, void*);
  int (*curl_multi_perform)(void*, int*);
  int (*curl_multi_wait)(void*, CurlWait*, unsigned, int, int*);
  CurlMessage* (*curl_multi_info_read)(void*, int*);
  CurlList* (*curl_slist_append)(CurlList*, const char*);
  void (*curl_slist_free_all)(CurlList*);
  std::string path;  ///< name or path of the library
};

/// Returns the library: the one that PLAIT_CURL names, that of the system, or the one of the Python package pycurl. It
/// is loaded once and stays loaded.
/// errors  kSystem, ELIBACC: there is none. The message lists the names that were tried.
const CurlLibrary& curl();

/// Returns the file with the certificates of the authorities that are trusted to certify TLS servers; empty: libcurl's
/// default.
std::string certificate_file();

}  // namespace plait::store::http
