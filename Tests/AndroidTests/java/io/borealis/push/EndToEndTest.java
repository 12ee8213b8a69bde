package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The library against the built server. */
@Tag("blackbox")
class EndToEndTest {
  @TempDir
  static Path data;

  private static TestServer server;

  @TempDir
  Path folder;

  @BeforeAll
  static void start() throws Exception {
    server = new TestServer(data);
  }

  @AfterAll
  static void end() throws Exception {
    server.close();
  }

  private PushConfig.Builder config() {
    return PushConfig.builder(server.device(), server.appKey, folder.resolve("state").toFile())
        .caFile(server.certificate().toFile());
  }

  private static String registrationId(Recorder recorder) throws InterruptedException {
    return recorder.next("registered ").substring(11);
  }

  @Test
  void registersAndReceivesPushes() throws Exception {
    Recorder recorder = new Recorder();
    try (PushClient client = new PushClient(config().build(), recorder)) {
      assertNull(client.registrationId());
      client.start();
      String id = registrationId(recorder);
      assertEquals("connected 0", recorder.next("connected"));
      assertEquals(id, client.registrationId());
      long sent =
          server.push(TestServer.to(id), "\"notification\":{\"android\":{\"alert\":\"Hello\",\"title\":\"T\","
          + "\"extras\":{\"n\":1}}},\"message\":{\"msg_content\":\"你好\",\"extras\":{\"k\":\"v\"}}");
      Push push = recorder.nextPush();
      assertEquals(sent, push.messageId());
      assertFalse(push.isRedelivered());
      assertEquals("Hello", push.notification().alert());
      assertEquals("T", push.notification().title());
      assertEquals(1L, push.notification().extras().get("n"));
      assertEquals("你好", push.message().content());
      assertEquals("v", push.message().extras().get("k"));
      awaitDelivered(sent);
      client.reportShown(sent);
      client.reportTapped(sent);
    }
  }

  private static void awaitDelivered(long id) throws Exception {
    long end = System.nanoTime() + 30_000_000_000L;
    while (true) {
      Map<String, Object> report = server.call("GET", "/v1/pushes/" + id, null);
      if (Long.valueOf(1).equals(report.get("delivered"))) return;
      assertTrue(System.nanoTime() < end, report.toString());
      Thread.sleep(20);
    }
  }

  @Test
  void setsAliasAndTags() throws Exception {
    Recorder recorder = new Recorder();
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      client.setAlias("anna", null);
      client.addTags(Arrays.asList("news", "杭州"), null);
      client.deleteTags(Collections.singletonList("news"), null);
      client.addTags(Collections.singletonList("vip"), null);
      client.getAlias(null);
      client.getTags(null);
      client.checkTag("vip", null);
      client.checkTag("none", null);
      client.setBadge(3, null);
      client.setForeground(true, null);
      client.setAlias("not valid!", null);
      assertEquals("anna", recorder.result(OperationType.GET_ALIAS).alias());
      assertEquals(new HashSet<>(Arrays.asList("杭州", "vip")),
          new HashSet<>(recorder.result(OperationType.GET_TAGS).tags()));
      assertTrue(recorder.result(OperationType.CHECK_TAG).isTagSet());
      assertFalse(recorder.result(OperationType.CHECK_TAG).isTagSet());
      assertTrue(recorder.result(OperationType.SET_BADGE).isOk());
      assertTrue(recorder.result(OperationType.APP_STATE).isOk());
      assertEquals(ResultCode.ALIAS_INVALID, recorder.result(OperationType.SET_ALIAS).code());
      Map<String, Object> device = server.call("GET", "/v3/devices/" + client.registrationId(), null);
      assertEquals("anna", device.get("alias"));
      client.deleteAlias(null);
      client.cleanTags(null);
      client.getAlias(null);
      client.setTags(Arrays.asList("a", "b"), null);
      client.setChannelToken("no-such-channel", "t", null);
      assertNull(recorder.result(OperationType.GET_ALIAS).alias());
      assertTrue(recorder.result(OperationType.SET_TAGS).isOk());
      assertEquals(ResultCode.REQUEST_INVALID, recorder.result(OperationType.SET_CHANNEL_TOKEN).code());
      client.logout(null);
      assertTrue(recorder.result(OperationType.LOGOUT).isOk());
      client.getAlias(null);
      assertEquals(ResultCode.STOPPED, recorder.result(OperationType.GET_ALIAS).code());
    }
  }

  @Test
  void keepsTheRegistrationAcrossRestarts() throws Exception {
    Recorder recorder = new Recorder();
    String id;
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      id = registrationId(recorder);
      recorder.next("connected");
    }
    long away = server.push(TestServer.to(id), "\"message\":{\"msg_content\":\"away\"}");
    Recorder later = new Recorder();
    try (PushClient client = new PushClient(config().build(), later)) {
      client.start();
      assertEquals(id, client.registrationId());
      Push push = later.nextPush();
      assertEquals(away, push.messageId());
      assertTrue(push.isOffline());
      awaitDelivered(away);
    }
    Recorder last = new Recorder();
    try (PushClient client = new PushClient(config().build(), last)) {
      client.start();
      long next = server.push(TestServer.to(id), "\"message\":{\"msg_content\":\"next\"}");
      assertEquals(next, last.nextPush().messageId());
    }
  }

  /** Whoever returns false calls handled() later; until then nothing is acknowledged. */
  @Test
  void pushesMayBeHandledLater() throws Exception {
    Recorder recorder = new Recorder() {
      @Override
      public boolean onPush(Push push) {
        super.onPush(push);
        return false;
      }
    };
    String id;
    long sent;
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      id = registrationId(recorder);
      sent = server.push(TestServer.to(id), "\"message\":{\"msg_content\":\"x\"}");
      assertEquals(sent, recorder.nextPush().messageId());
    }
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      Push again = recorder.nextPush();
      assertEquals(sent, again.messageId());
      assertTrue(again.isRedelivered());
      client.handled(sent);
      awaitDelivered(sent);
    }
  }

  /** Both libraries write the same format: one goes on where the other stopped. */
  @Test
  void theSwiftLibraryReadsTheStateFile() throws Exception {
    File state = folder.resolve("state").toFile();
    Recorder recorder = new Recorder();
    String id;
    long first;
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      id = registrationId(recorder);
      client.setAlias("swift", null);
      assertTrue(recorder.result(OperationType.SET_ALIAS).isOk());
      first = server.push(TestServer.to(id), "\"message\":{\"msg_content\":\"1\"}");
      recorder.nextPush();
      awaitDelivered(first);
    }
    long second = server.push(TestServer.to(id), "\"message\":{\"msg_content\":\"2\"}");
    Process swift =
        TestServer.program("device", "--server", server.plain(), "--plain", "--app-key", server.appKey,
        "--state", state.getPath()).start();
    BufferedReader lines = new BufferedReader(new InputStreamReader(swift.getInputStream(), Wire.UTF_8));
    Map<String, Object> login = TestServer.object(lines.readLine());
    assertEquals("logged_in", login.get("event"));
    assertEquals(id, login.get("registration_id"));
    Map<String, Object> push = TestServer.object(lines.readLine());
    assertEquals(Long.toString(second), push.get("msg_id"));
    assertEquals(false, push.get("redelivered"));
    swift.getOutputStream().write("quit\n".getBytes(Wire.UTF_8));
    swift.getOutputStream().flush();
    assertEquals(0, swift.waitFor());
    Recorder later = new Recorder();
    try (PushClient client = new PushClient(config().build(), later)) {
      client.start();
      assertEquals(id, client.registrationId());
      long third = server.push(TestServer.to(id), "\"message\":{\"msg_content\":\"3\"}");
      assertEquals(third, later.nextPush().messageId());
    }
  }

  @Test
  void recallsArrive() throws Exception {
    Recorder recorder = new Recorder();
    try (PushClient client = new PushClient(config().build(), recorder)) {
      client.start();
      String id = registrationId(recorder);
      long sent = server.push(TestServer.to(id), "\"message\":{\"msg_content\":\"x\"}");
      recorder.nextPush();
      server.call("DELETE", "/v3/push/" + sent, null);
      assertEquals("recalled " + sent, recorder.next("recalled"));
    }
  }

  @ParameterizedTest
  @EnumSource(value = Encryption.class, names = {"X25519", "P256"})
  void decryptsWhatOnlyTheDeviceReads(Encryption encryption) throws Exception {
    Recorder recorder = new Recorder();
    Path secret = folder.resolve("secret");
    String login = new String(java.util.Base64.getDecoder().decode(server.login().substring(6)), Wire.UTF_8);
    Files.write(secret, login.substring(login.indexOf(':') + 1).getBytes(Wire.UTF_8));
    PushConfig config = config().encryption(encryption).build();
    try (PushClient client = new PushClient(config, recorder)) {
      client.start();
      String id = registrationId(recorder);
      recorder.next("connected");
      // In the order of the key's own operation, which the app does not see.
      client.getAlias(null);
      recorder.result(OperationType.GET_ALIAS);
      for (String text : new String[] {"secret 1", "secret 2"}) {
        TestServer.run("push", "--server", "http://" + server.http(), "--app-key", server.appKey,
            "--master-secret-file", secret.toString(), "--registration-id", id, "--encrypt", "--alert", text);
        Push push = recorder.nextPush();
        assertEquals(text, push.notification().alert());
        assertNotNull(push.keyId());
        client.rotateKey(null);
        assertTrue(recorder.result(OperationType.SET_KEY).isOk());
      }
    }
  }

  // TLS

  private static String pin(Path certificate) throws Exception {
    try (FileInputStream input = new FileInputStream(certificate.toFile())) {
      byte[] key = CertificateFactory.getInstance("X.509").generateCertificate(input).getPublicKey()
      .getEncoded();
      return java.util.Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(key));
    }
  }

  private String firstEvent(PushConfig config) throws Exception {
    Recorder recorder = new Recorder();
    try (PushClient client = new PushClient(config, recorder)) {
      client.start();
      Object event =
          recorder.next(Object.class, any -> any instanceof Disconnect || any.toString().startsWith("conn"));
      return event.toString();
    }
  }

  @Test
  void acceptsTheKeyThatIsPinned() throws Exception {
    String pin = pin(server.certificate());
    assertEquals("connected 0", firstEvent(config().pins(Collections.singleton(pin)).build()));
  }

  @Test
  void refusesOtherKeysThanThePinned() throws Exception {
    String other = java.util.Base64.getEncoder().encodeToString(new byte[32]);
    String event = firstEvent(config().pins(Collections.singleton(other)).build());
    assertTrue(event.startsWith("CONNECT_FAILED") && event.contains("pins"), event);
  }

  @Test
  void refusesCertificatesOfUnknownAuthorities() throws Exception {
    String event = firstEvent(config().caFile(null).build());
    assertTrue(event.startsWith("CONNECT_FAILED"), event);
  }

  @Test
  void refusesCertificatesForOtherNames() throws Exception {
    // The certificate has push.test and 127.0.0.1; all of 127.0.0.0/8 is this machine.
    File state = folder.resolve("state").toFile();
    String port = server.device().substring(server.device().lastIndexOf(':'));
    PushConfig config = PushConfig.builder("127.0.0.2" + port, server.appKey, state)
        .caFile(server.certificate().toFile()).build();
    String event = firstEvent(config);
    assertTrue(event.startsWith("CONNECT_FAILED"), event);
  }
}
