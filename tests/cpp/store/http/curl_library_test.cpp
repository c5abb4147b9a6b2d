// The numbers of libcurl's interface that curl_library.hpp states, compared with libcurl's headers. Plait loads libcurl
// when it is needed, so it is built without these headers.
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
#define EXPECT_SAME_NUMBER(PLAIT_NAME, CURL_NAME) \
  EXPECT_EQ(static_cast<long>(PLAIT_NAME), static_cast<long>(CURL_NAME)) << #CURL_NAME
  EXPECT_SAME_NUMBER(kCurlWriteData, CURLOPT_WRITEDATA);
  EXPECT_SAME_NUMBER(kCurlUrl, CURLOPT_URL);
  EXPECT_SAME_NUMBER(kCurlReadData, CURLOPT_READDATA);
  EXPECT_SAME_NUMBER(kCurlErrorBuffer, CURLOPT_ERRORBUFFER);
  EXPECT_SAME_NUMBER(kCurlUserAgent, CURLOPT_USERAGENT);
  EXPECT_SAME_NUMBER(kCurlHeaders, CURLOPT_HTTPHEADER);
  EXPECT_SAME_NUMBER(kCurlHeaderData, CURLOPT_HEADERDATA);
  EXPECT_SAME_NUMBER(kCurlCustomRequest, CURLOPT_CUSTOMREQUEST);
  EXPECT_SAME_NUMBER(kCurlCaFile, CURLOPT_CAINFO);
  EXPECT_SAME_NUMBER(kCurlPrivate, CURLOPT_PRIVATE);
  EXPECT_SAME_NUMBER(kCurlSeekData, CURLOPT_SEEKDATA);
  EXPECT_SAME_NUMBER(kCurlWriteFunction, CURLOPT_WRITEFUNCTION);
  EXPECT_SAME_NUMBER(kCurlReadFunction, CURLOPT_READFUNCTION);
  EXPECT_SAME_NUMBER(kCurlHeaderFunction, CURLOPT_HEADERFUNCTION);
  EXPECT_SAME_NUMBER(kCurlSeekFunction, CURLOPT_SEEKFUNCTION);
  EXPECT_SAME_NUMBER(kCurlUploadBytes, CURLOPT_INFILESIZE_LARGE);
  EXPECT_SAME_NUMBER(kCurlLowSpeedLimit, CURLOPT_LOW_SPEED_LIMIT);
  EXPECT_SAME_NUMBER(kCurlLowSpeedTime, CURLOPT_LOW_SPEED_TIME);
  EXPECT_SAME_NUMBER(kCurlNoBody, CURLOPT_NOBODY);
  EXPECT_SAME_NUMBER(kCurlUpload, CURLOPT_UPLOAD);
  EXPECT_SAME_NUMBER(kCurlFollow, CURLOPT_FOLLOWLOCATION);
  EXPECT_SAME_NUMBER(kCurlMaxRedirects, CURLOPT_MAXREDIRS);
  EXPECT_SAME_NUMBER(kCurlHttpVersion, CURLOPT_HTTP_VERSION);
  EXPECT_SAME_NUMBER(kCurlBufferBytes, CURLOPT_BUFFERSIZE);
  EXPECT_SAME_NUMBER(kCurlNoSignal, CURLOPT_NOSIGNAL);
  EXPECT_SAME_NUMBER(kCurlNoProxyHosts, CURLOPT_NOPROXY);
  EXPECT_SAME_NUMBER(kCurlTimeout, CURLOPT_TIMEOUT_MS);
  EXPECT_SAME_NUMBER(kCurlConnectTimeout, CURLOPT_CONNECTTIMEOUT_MS);
  EXPECT_SAME_NUMBER(kCurlProtocols, 181);          // CURLOPT_PROTOCOLS, which new headers call deprecated
  EXPECT_SAME_NUMBER(kCurlRedirectProtocols, 182);  // CURLOPT_REDIR_PROTOCOLS
  EXPECT_SAME_NUMBER(kCurlPathAsIs, CURLOPT_PATH_AS_IS);
  EXPECT_SAME_NUMBER(kCurlUploadBufferBytes, CURLOPT_UPLOAD_BUFFERSIZE);
  EXPECT_SAME_NUMBER(kCurlStatus, CURLINFO_RESPONSE_CODE);
  EXPECT_SAME_NUMBER(kCurlGetPrivate, CURLINFO_PRIVATE);
  EXPECT_SAME_NUMBER(kCurlMaxConnects, CURLMOPT_MAXCONNECTS);
  EXPECT_SAME_NUMBER(kCurlOk, CURLE_OK);
  EXPECT_SAME_NUMBER(kCurlNoProxy, CURLE_COULDNT_RESOLVE_PROXY);
  EXPECT_SAME_NUMBER(kCurlNoHost, CURLE_COULDNT_RESOLVE_HOST);
  EXPECT_SAME_NUMBER(kCurlNotConnected, CURLE_COULDNT_CONNECT);
  EXPECT_SAME_NUMBER(kCurlPartial, CURLE_PARTIAL_FILE);
  EXPECT_SAME_NUMBER(kCurlWriteError, CURLE_WRITE_ERROR);
  EXPECT_SAME_NUMBER(kCurlTimedOut, CURLE_OPERATION_TIMEDOUT);
  EXPECT_SAME_NUMBER(kCurlTls, CURLE_SSL_CONNECT_ERROR);
  EXPECT_SAME_NUMBER(kCurlNothing, CURLE_GOT_NOTHING);
  EXPECT_SAME_NUMBER(kCurlSendError, CURLE_SEND_ERROR);
  EXPECT_SAME_NUMBER(kCurlReceiveError, CURLE_RECV_ERROR);
  EXPECT_SAME_NUMBER(kCurlCertificate, CURLE_PEER_FAILED_VERIFICATION);
  EXPECT_SAME_NUMBER(kCurlDone, CURLMSG_DONE);
  EXPECT_SAME_NUMBER(kCurlHttp11, CURL_HTTP_VERSION_1_1);
  EXPECT_SAME_NUMBER(kCurlHttpOrTls, CURLPROTO_HTTP | CURLPROTO_HTTPS);
  EXPECT_SAME_NUMBER(kCurlAll, CURL_GLOBAL_ALL);
  EXPECT_SAME_NUMBER(kCurlReadable, CURL_WAIT_POLLIN);
  EXPECT_SAME_NUMBER(kCurlErrorBytes, CURL_ERROR_SIZE);
#undef EXPECT_SAME_NUMBER
}

}  // namespace
#else
TEST(CurlLibrary, HasTheNumbersOfTheHeaders) { GTEST_SKIP() << "libcurl's headers are not installed"; }
#endif
