// The numbers of libcurl's interface that Plait has written down, compared with libcurl's headers.
#include "store/http/curl_library.hpp"

#include <gtest/gtest.h>

#if __has_include(<curl/curl.h>)
#include <curl/curl.h>

#include <cstddef>

namespace {

using namespace plait::store::http;

static_assert(sizeof(CurlMessage) == sizeof(CURLMsg));
static_assert(offsetof(CurlMessage, easy) == offsetof(CURLMsg, easy_handle));
static_assert(offsetof(CurlMessage, data) == offsetof(CURLMsg, data));
static_assert(sizeof(CurlWait) == sizeof(curl_waitfd));
static_assert(offsetof(CurlWait, happened) == offsetof(curl_waitfd, revents));

TEST(CurlLibrary, HasTheNumbersOfTheHeaders) {
#define SAME(OWN, THEIRS) EXPECT_EQ(static_cast<long>(OWN), static_cast<long>(THEIRS)) << #THEIRS
  SAME(kCurlWriteData, CURLOPT_WRITEDATA);
  SAME(kCurlUrl, CURLOPT_URL);
  SAME(kCurlReadData, CURLOPT_READDATA);
  SAME(kCurlErrorBuffer, CURLOPT_ERRORBUFFER);
  SAME(kCurlUserAgent, CURLOPT_USERAGENT);
  SAME(kCurlHeaders, CURLOPT_HTTPHEADER);
  SAME(kCurlHeaderData, CURLOPT_HEADERDATA);
  SAME(kCurlCustomRequest, CURLOPT_CUSTOMREQUEST);
  SAME(kCurlCaFile, CURLOPT_CAINFO);
  SAME(kCurlPrivate, CURLOPT_PRIVATE);
  SAME(kCurlSeekData, CURLOPT_SEEKDATA);
  SAME(kCurlWriteFunction, CURLOPT_WRITEFUNCTION);
  SAME(kCurlReadFunction, CURLOPT_READFUNCTION);
  SAME(kCurlHeaderFunction, CURLOPT_HEADERFUNCTION);
  SAME(kCurlSeekFunction, CURLOPT_SEEKFUNCTION);
  SAME(kCurlUploadBytes, CURLOPT_INFILESIZE_LARGE);
  SAME(kCurlLowSpeedLimit, CURLOPT_LOW_SPEED_LIMIT);
  SAME(kCurlLowSpeedTime, CURLOPT_LOW_SPEED_TIME);
  SAME(kCurlNoBody, CURLOPT_NOBODY);
  SAME(kCurlUpload, CURLOPT_UPLOAD);
  SAME(kCurlFollow, CURLOPT_FOLLOWLOCATION);
  SAME(kCurlMaxRedirects, CURLOPT_MAXREDIRS);
  SAME(kCurlHttpVersion, CURLOPT_HTTP_VERSION);
  SAME(kCurlBufferBytes, CURLOPT_BUFFERSIZE);
  SAME(kCurlNoSignal, CURLOPT_NOSIGNAL);
  SAME(kCurlNoProxyHosts, CURLOPT_NOPROXY);
  SAME(kCurlTimeout, CURLOPT_TIMEOUT_MS);
  SAME(kCurlConnectTimeout, CURLOPT_CONNECTTIMEOUT_MS);
  SAME(kCurlProtocols, 181);          // CURLOPT_PROTOCOLS, which new headers call deprecated
  SAME(kCurlRedirectProtocols, 182);  // CURLOPT_REDIR_PROTOCOLS
  SAME(kCurlPathAsIs, CURLOPT_PATH_AS_IS);
  SAME(kCurlUploadBufferBytes, CURLOPT_UPLOAD_BUFFERSIZE);
  SAME(kCurlStatus, CURLINFO_RESPONSE_CODE);
  SAME(kCurlGetPrivate, CURLINFO_PRIVATE);
  SAME(kCurlMaxConnects, CURLMOPT_MAXCONNECTS);
  SAME(kCurlOk, CURLE_OK);
  SAME(kCurlNoProxy, CURLE_COULDNT_RESOLVE_PROXY);
  SAME(kCurlNoHost, CURLE_COULDNT_RESOLVE_HOST);
  SAME(kCurlNotConnected, CURLE_COULDNT_CONNECT);
  SAME(kCurlPartial, CURLE_PARTIAL_FILE);
  SAME(kCurlWriteError, CURLE_WRITE_ERROR);
  SAME(kCurlTimedOut, CURLE_OPERATION_TIMEDOUT);
  SAME(kCurlTls, CURLE_SSL_CONNECT_ERROR);
  SAME(kCurlNothing, CURLE_GOT_NOTHING);
  SAME(kCurlSendError, CURLE_SEND_ERROR);
  SAME(kCurlReceiveError, CURLE_RECV_ERROR);
  SAME(kCurlCertificate, CURLE_PEER_FAILED_VERIFICATION);
  SAME(kCurlDone, CURLMSG_DONE);
  SAME(kCurlHttp11, CURL_HTTP_VERSION_1_1);
  SAME(kCurlHttpOrTls, CURLPROTO_HTTP | CURLPROTO_HTTPS);
  SAME(kCurlAll, CURL_GLOBAL_ALL);
  SAME(kCurlReadable, CURL_WAIT_POLLIN);
  SAME(kCurlErrorBytes, CURL_ERROR_SIZE);
#undef SAME
}

}  // namespace
#else
TEST(CurlLibrary, HasTheNumbersOfTheHeaders) { GTEST_SKIP() << "libcurl's headers are not installed"; }
#endif
