import Testing

/// A device client and an app server that share no code with the server: Tests/PythonClient.
///
/// `make test` makes the Python environment that holds JPush's own client; without it the system's Python
/// runs the same tests with requests of its own.
@Suite(.enabled(if: PythonClient.canRun, "python3 is missing or older than 3.11"))
struct PythonClientTests {
  @Test func `The second codec agrees with every golden vector`() throws {
    let ending = try PythonClient.run("check_vectors.py")
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
  }

  @Test func `Pushes of JPush's client reach the Python device`() throws {
    let ending = try PythonClient.run("end_to_end.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    // Says in the log which client the app server was.
    print(ending.output.prefix { $0 != "\n" })
    #expect(ending.output.contains("\nok - "))
  }

  @Test func `JPush's client makes and deletes apps`() throws {
    let ending = try PythonClient.run("admin_api.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test func `Callbacks come to an app server in Python`() throws {
    let ending = try PythonClient.run("callbacks.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.split(separator: "\n").count == 6)
  }

  @Test(.enabled(if: PythonClient.canConfine, "systemd-analyze is missing, or a sanitizer needs more calls"))
  func `The server works under the filter of its systemd unit`() throws {
    let ending = try PythonClient.run("unit.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test func `One-time passwords outlive the secret key that sealed them`() throws {
    let ending = try PythonClient.run("reseal.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test func `No file of the server shows what a sealed push says`() throws {
    let ending = try PythonClient.run("sealing.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test(.enabled(if: PythonClient.hasFirebase, "the Python package firebase-admin is missing"))
  func `FCM gets what Google's own client sends`() throws {
    let ending = try PythonClient.run("fcm_shape.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test(.enabled(if: PythonClient.hasWebPush, "the Python package pywebpush is missing"))
  func `Web Push works with other senders and browsers`() throws {
    let ending = try PythonClient.run("web_push.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.split(separator: "\n").count == 2)
  }

  @Test(
    .enabled(
      if: PythonClient.hasBrowser && PythonClient.hasWebPush && PythonClient.hasCryptography,
      "chromium or one of the Python packages playwright, pywebpush and cryptography is missing"))
  func `Pages show what comes over Web Push`() throws {
    let ending = try PythonClient.run("web_push_device.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.split(separator: "\n").count == 4)
  }

  @Test(
    .enabled(
      if: PythonClient.hasFirefox && PythonClient.hasWebSockets && PythonClient.hasWebPush
        && PythonClient.hasCryptography,
      "firefox-esr or one of the Python packages websockets, pywebpush and cryptography is missing"))
  func `Firefox subscribes, decrypts and shows pushes by its own code`() throws {
    let ending = try PythonClient.run("web_firefox.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.split(separator: "\n").count == 4)
  }

  @Test(
    .enabled(
      if: PythonClient.hasWebSockets && PythonClient.hasWebPush,
      "one of the Python packages websockets and pywebpush is missing"))
  func `A browser takes its Web Push from Borealis, over kills`() throws {
    let ending = try PythonClient.run("autopush.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.split(separator: "\n").count == 4)
  }

  @Test(
    .enabled(
      if: PythonClient.hasFirefox && PythonClient.hasWebSockets && PythonClient.hasWebPush,
      "firefox-esr or one of the Python packages websockets and pywebpush is missing"))
  func `Firefox takes its Web Push from Borealis, over kills`() throws {
    let ending = try PythonClient.run("autopush_firefox.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.split(separator: "\n").count == 2)
  }

  @Test(.enabled(if: PythonClient.hasWebSockets, "the Python package websockets is missing"))
  func `Devices in Python come over WebSocket`() throws {
    let ending = try PythonClient.run("web_devices.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test(.enabled(if: PythonClient.hasCryptography, "the Python package cryptography is missing"))
  func `Only devices read what a server in Python enciphers`() throws {
    let ending = try PythonClient.run("encryption.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test(.enabled(if: PythonClient.hasCryptography, "the Python package cryptography is missing"))
  func `Keys are replaced while pushes come and the server is killed`() throws {
    let ending = try PythonClient.run("encryption_crash.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test(
    .enabled(
      if: PythonClient.hasBrowser && PythonClient.hasCryptography,
      "chromium or one of the Python packages playwright and cryptography is missing"))
  func `A device in the browser reads what only it can read`() throws {
    let ending = try PythonClient.run("web_encryption.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test func `The examples of the API reference do what they say`() throws {
    let ending = try PythonClient.run("docs_examples.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.contains("ok - "))
  }

  @Test func `The answers on JPush's page are those of a server`() throws {
    let ending = try PythonClient.run("jpush_page.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test func `An app server of Getui's in Python pushes, and gets receipts`() throws {
    let ending = try PythonClient.run("getui_server.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.split(separator: "\n").count == 7)
  }

  @Test func `The answers on the pages about Getui's API are those of a server`() throws {
    let ending = try PythonClient.run("getui_page.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test(.enabled(if: PythonClient.hasSchemathesis, "the Python package schemathesis is missing"))
  func `The server answers as its OpenAPI description says`() throws {
    let ending = try PythonClient.run("openapi_check.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    // Says in the log how much was tried.
    print(ending.output)
    #expect(ending.output.hasSuffix("ok - the server answers as it says\n"))
  }

  @Test(.enabled(if: PythonClient.hasMailServer, "the Python package aiosmtpd is missing"))
  func `A mail server in Python gets what the server writes to people`() throws {
    let ending = try PythonClient.run("mail.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.split(separator: "\n").count == 4)
  }

  @Test(.enabled(if: PythonClient.hasHTTP2, "the Python package h2 is missing"))
  func `The APNs simulator answers a provider in Python as Apple does`() throws {
    let ending = try PythonClient.run("apns_simulator.py", ["--binary", RunningProgram.tools])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test(.enabled(if: PythonClient.hasBrowser, "chromium or the Python package playwright is missing"))
  func `People log in with an identity provider in a browser`() throws {
    let ending = try PythonClient.run("console_signon.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }

  @Test(.enabled(if: PythonClient.hasBrowser, "chromium or the Python package playwright is missing"))
  func `The console works in a browser`() throws {
    let ending = try PythonClient.run("console.py", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.hasPrefix("ok - "))
  }
}
