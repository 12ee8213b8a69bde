package io.borealis.push;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The built program as a server, with one app. */
public final class TestServer implements AutoCloseable {
  /** Names the program that black-box tests start. */
  private static final String PROGRAM = System.getProperty("borealis.program");

  private final Path data;
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
  private Process process;
  private final String http = fixedAddress();
  private final String device = fixedAddress();
  private final String plain = fixedAddress();
  public final String appKey;
  private final String login;

  public TestServer(Path data) throws Exception {
    this.data = data;
    run("init", "--data", data.toString());
    Map<String, Object> app = object(run("app", "create", "test", "--data", data.toString()));
    appKey = (String) app.get("app_key");
    String pair = appKey + ":" + app.get("master_secret");
    login = "Basic " + java.util.Base64.getEncoder().encodeToString(pair.getBytes(Wire.UTF_8));
    start();
  }

  /**
   * A free port outside of the range from which the kernel gives ports to whoever asks for any, so that no
   * other test's program gets it while the server is away.
   */
  private static String fixedAddress() {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(18_000, 25_000);
      try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return "127.0.0.1:" + probe.getLocalPort();
      } catch (IOException error) {
        // In use: another one.
      }
    }
  }

  static Map<String, Object> object(String text) {
    try {
      return Json.document(text).object;
    } catch (Json.MalformedException error) {
      throw new AssertionError(text, error);
    }
  }

  /** The program without the settings of the tests, which it does not know. */
  static ProcessBuilder program(String... arguments) {
    List<String> command = new ArrayList<>(Arrays.asList(PROGRAM));
    command.addAll(Arrays.asList(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().keySet().removeIf(name -> name.startsWith("BOREALIS_"));
    return builder;
  }

  /** Runs a command of the program and returns what it prints. */
  static String run(String... arguments) throws Exception {
    Process process = program(arguments).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), Wire.UTF_8);
    if (process.waitFor() != 0) {
      throw new AssertionError(Arrays.toString(arguments) + " failed: " + output);
    }
    return output;
  }

  /** Starts the program, each time on the same ports. */
  void start() throws IOException {
    process =
    program("serve", "--data", data.toString(), "--http", http, "--device", device, "--device-plain", plain,
        "--tls-names", "push.test,127.0.0.1").redirectError(data.resolve("server.log").toFile()).start();
    String ready = new BufferedReader(new InputStreamReader(process.getInputStream(), Wire.UTF_8)).readLine();
    if (ready == null) throw new AssertionError("the server did not start; see server.log");
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() throws Exception {
    process.destroy();
    if (!process.waitFor(20, TimeUnit.SECONDS)) process.destroyForcibly().waitFor();
  }

  public String plain() {
    return plain;
  }

  /** The port with TLS. */
  String device() {
    return device;
  }

  /** The certificate that the server made. */
  Path certificate() {
    return data.resolve("tls").resolve("certificate.pem");
  }

  String http() {
    return http;
  }

  String login() {
    return login;
  }

  /** A call of the HTTP API; fails if the server does not answer. */
  public Map<String, Object> call(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + http + path))
    .timeout(Duration.ofSeconds(30))
        .header("Authorization", login).header("Content-Type", "application/json")
        .method(method, body == null ? HttpRequest.BodyPublishers.noBody()
        : HttpRequest.BodyPublishers.ofString(body))
        .build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) throw new IOException(response.statusCode() + " " + response.body());
    return response.body().isEmpty() ? object("{}") : object(response.body());
  }

  /** Sends a push and returns its message ID. */
  public long push(String audience, String content) throws IOException, InterruptedException {
    String body = "{\"platform\":\"all\",\"audience\":" + audience + "," + content + "}";
    return Long.parseLong((String) call("POST", "/v3/push", body).get("msg_id"));
  }

  public static String to(String registrationId) {
    return "{\"registration_id\":[\"" + registrationId + "\"]}";
  }
}
