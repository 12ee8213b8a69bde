package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Server and devices are killed again and again while pushes come: none is lost, none is shown twice. */
@Tag("slow")
class KillTest {
  private static final int DEVICES = number("BOREALIS_JAVA_DEVICES", 50);
  private static final int KILLS = number("BOREALIS_JAVA_KILLS", 20);
  private static final int PUSHERS = 2;

  @TempDir
  Path folder;

  private final Random random = new Random();
  /** The devices' IDs by their numbers. */
  private final Map<Integer, String> names = new ConcurrentHashMap<>();
  /** The devices that each accepted push is for, by its message ID. */
  private final Map<Long, Set<Integer>> accepted = new ConcurrentHashMap<>();
  private TestServer server;
  private Process fleet;

  private static int number(String variable, int fallback) {
    String value = System.getenv(variable);
    return value == null ? fallback : Integer.parseInt(value);
  }

  @Test
  void everyAcceptedPushIsShownOnce() throws Exception {
    server = new TestServer(Files.createDirectory(folder.resolve("data")));
    try {
      startFleet();
      for (int round = 0; round < KILLS; round++) {
        List<Thread> pushers = new ArrayList<>();
        for (int index = 0; index < PUSHERS; index++) {
          // Each sends until it fails, or until it has sent enough for a round.
          Thread pusher = new Thread(this::push);
          pusher.start();
          pushers.add(pusher);
        }
        // The moment of the kill is what is random here; nothing waits for this.
        Thread.sleep(random.nextInt(300));
        if (round % 3 != 0) fleet.destroyForcibly().waitFor();
        if (round % 3 != 1) server.kill();
        for (Thread pusher : pushers) pusher.join();
        if (round % 3 != 1) server.start();
        if (round % 3 != 0) startFleet();
        else networkChanged();
      }
      networkChanged();
      awaitAll();
    } finally {
      fleet.destroyForcibly().waitFor();
      server.close();
    }
  }

  private void startFleet() throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    fleet = new ProcessBuilder(java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp",
        System.getProperty("java.class.path"), DeviceProcess.class.getName(), server.plain(), server.appKey,
        folder.toString(), Integer.toString(DEVICES)).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader output = new BufferedReader(new InputStreamReader(fleet.getInputStream(), Wire.UTF_8));
    Set<Integer> ready = new HashSet<>();
    while (ready.size() < DEVICES) {
      String line = output.readLine();
      if (line == null) throw new AssertionError("the devices ended");
      String[] words = line.split(" ");
      names.put(Integer.parseInt(words[1]), words[2]);
      ready.add(Integer.parseInt(words[1]));
    }
  }

  private void networkChanged() throws IOException {
    fleet.getOutputStream().write('\n');
    fleet.getOutputStream().flush();
  }

  private void push() {
    Set<Integer> all = new HashSet<>(names.keySet());
    try {
      for (int count = 0; count < 40; count++) {
        int device = random.nextInt(DEVICES);
        boolean isForAll = random.nextInt(4) == 0;
        String audience = isForAll ? "\"all\"" : TestServer.to(names.get(device));
        long id = server.push(audience, "\"message\":{\"msg_content\":\"load\"}");
        accepted.put(id, isForAll ? all : Collections.singleton(device));
      }
    } catch (IOException | InterruptedException error) {
      // The server was killed: nobody knows whether this push was accepted.
      return;
    }
  }

  private void awaitAll() throws Exception {
    long end = System.nanoTime() + 60_000_000_000L;
    while (true) {
      Map<Integer, List<Long>> shown = new HashMap<>();
      for (int device = 0; device < DEVICES; device++) {
        List<Long> ids = new ArrayList<>();
        Path file = folder.resolve("shown-" + device);
        if (Files.exists(file)) for (String line : Files.readAllLines(file)) ids.add(Long.parseLong(line));
        assertEquals(new HashSet<>(ids).size(), ids.size(), "device " + device + " showed a push twice");
        shown.put(device, ids);
      }
      List<String> missing = new ArrayList<>();
      accepted.forEach((id, devices) -> {
        for (int device : devices) if (!shown.get(device).contains(id)) missing.add(id + " on " + device);
      });
      if (missing.isEmpty()) break;
      assertTrue(System.nanoTime() < end, missing.size() + " were lost: " + missing);
      Thread.sleep(100);
    }
    assertTrue(accepted.size() > KILLS, accepted.size() + " pushes");
    System.out.println(accepted.size() + " pushes to " + DEVICES + " devices, " + KILLS
        + " kills: 0 lost, 0 twice");
  }
}
