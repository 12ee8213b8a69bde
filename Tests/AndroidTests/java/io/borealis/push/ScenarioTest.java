package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The scenarios that every device library runs: Docs/device-scenarios.json. */
class ScenarioTest {
  @TestFactory
  Stream<DynamicTest> scenarios() throws Exception {
    String text = new String(Files.readAllBytes(Repository.file("Docs/device-scenarios.json")), Wire.UTF_8);
    List<?> scenarios = (List<?>) Json.document(text).object.get("scenarios");
    String page = new String(Files.readAllBytes(Repository.file("Docs/device-library.md")), Wire.UTF_8);
    assertTrue(
        page.contains("has " + scenarios.size() + " scripted scenarios"), scenarios.size() + " scenarios");
    return scenarios.stream().map(Json::object).map(scenario ->
        DynamicTest.dynamicTest((String) scenario.get("name"), () -> {
          run(scenario, false);
          run(scenario, true);
        }));
  }

  /** Runs a scenario; with {@code isCut}, what the server sends arrives byte by byte. */
  private static void run(Map<String, Object> scenario, boolean isCut) {
    ScenarioDevice device = new ScenarioDevice();
    begin(device, (String) scenario.get("from"));
    int number = 0;
    for (Object item : (List<?>) scenario.get("steps")) {
      Map<String, Object> step = Json.object(item);
      step(device, step, isCut);
      List<String> expected = strings(step.get("then"));
      List<String> done = device.take();
      String where = "step " + ++number + " " + step + (isCut ? ", cut" : "") + "\n" + done;
      assertEquals(expected.size(), done.size(), where);
      for (int index = 0; index < expected.size(); index++) {
        assertTrue(matches(expected.get(index), done.get(index)), where + "\nnot " + expected.get(index));
      }
    }
  }

  private static void begin(ScenarioDevice device, String from) {
    if (from.equals("new")) return;
    String[] words = from.split(" ", 2);
    String values = words.length == 1 ? "" : " " + words[1];
    device.register(values);
    if (words[0].equals("registered")) return;
    assertEquals("session", words[0]);
    device.app("start");
    device.connected();
    device.receive(ServerFrames.of("HELLO_OK" + values, "LOGIN_OK" + values));
    device.take();
  }

  private static void step(ScenarioDevice device, Map<String, Object> step, boolean isCut) {
    String verb = step.keySet().iterator().next();
    Object value = step.get(verb);
    switch (verb) {
      case "app":
        device.app((String) value);
        break;
      case "network":
        if (value.equals("connected")) device.connected();
        else if (value.equals("lost")) device.lost();
        else device.setReadingPaused(value.equals("unread"));
        break;
      case "server":
        byte[] bytes = ServerFrames.of(strings(value));
        if (!isCut) device.receive(bytes);
        for (int index = 0; isCut && index < bytes.length; index++) device.receive(new byte[] {bytes[index]});
        break;
      case "wait":
        device.pass((Long) value);
        break;
      case "sleep":
        device.sleep((Long) value);
        break;
      case "disk":
        device.setDiskFull(value.equals("full"));
        break;
      case "process":
        device.restart();
        break;
      default:
        throw new AssertionError("an unknown step: " + verb);
    }
  }

  private static List<String> strings(Object list) {
    List<String> strings = new ArrayList<>();
    for (Object item : list == null ? Collections.emptyList() : (List<?>) list) strings.add((String) item);
    return strings;
  }

  /** Whether an action is the expected one, of which {@code retry=LEAST..MOST} gives the limits of a wait. */
  private static boolean matches(String expected, String done) {
    int range = expected.indexOf("..");
    int start = expected.indexOf("retry=") + 6;
    if (range < 0 || start < 6) return expected.equals(done);
    if (!done.startsWith(expected.substring(0, start)) || done.endsWith("never")) return false;
    long wait = Long.parseLong(done.substring(start));
    return wait >= Long.parseLong(expected.substring(start, range))
        && wait <= Long.parseLong(expected.substring(range + 2));
  }
}
