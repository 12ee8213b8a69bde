import Glibc

/// What each harness does with the bytes that libFuzzer offers. The environment variable
/// `BOREALIS_FUZZ_TARGET` names the one to run, so that all of them share one build.
let harnesses: [String: @Sendable ([UInt8]) -> Void] = [
  "ACME": fuzzACME,
  "APNsAnswers": fuzzAPNsAnswers,
  "Certificate": fuzzCertificate,
  "ClientFrames": fuzzClientFrames,
  "ClusterFrames": fuzzClusterFrames,
  "Codings": fuzzCodings,
  "Content": fuzzContent,
  "DeviceBody": fuzzDeviceBody,
  "EncryptedContent": fuzzEncryptedContent,
  "HTTP2": fuzzHTTP2,
  "HTTPRequest": fuzzHTTPRequest,
  "HTTPResponse": fuzzHTTPResponse,
  "HTTPTarget": fuzzHTTPTarget,
  "JSON": fuzzJSON,
  "KeyFile": fuzzKeyFile,
  "Multipart": fuzzMultipart,
  "Names": fuzzNames,
  "PKCS12": fuzzPKCS12,
  "ProxyHeader": fuzzProxyHeader,
  "PushObject": fuzzPushObject,
  "Schedule": fuzzSchedule,
  "ServerFrames": fuzzServerFrames,
  "Settings": fuzzSettings,
  "TLSRecords": fuzzTLSRecords,
  "Topics": fuzzTopics,
  "WebSocket": fuzzWebSocket,
]

private let chosen: @Sendable ([UInt8]) -> Void = {
  let name = getenv("BOREALIS_FUZZ_TARGET").map { String(cString: $0) } ?? ""
  guard let harness = harnesses[name] else {
    fatalError("BOREALIS_FUZZ_TARGET must be one of \(harnesses.keys.sorted().joined(separator: ", "))")
  }
  return harness
}()

/// libFuzzer's entry point (https://llvm.org/docs/LibFuzzer.html): called once for each input.
@c(LLVMFuzzerTestOneInput)
package func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  chosen(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

/// Ends the process, which libFuzzer reports as a crash, unless the claim holds.
func check(_ holds: Bool, _ claim: StaticString) {
  if !holds { fatalError("does not hold: \(claim)") }
}

/// Where to cut the bytes into pieces: ascending places that depend on the bytes only, so that a finding can
/// be repeated. About every `stride` bytes.
func cuts(_ bytes: [UInt8], stride: UInt64) -> [Int] {
  // FNV-1a gives the seed and xorshift the sequence.
  var state = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } | 1
  return bytes.indices.filter { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state % stride == 0
  }
}
