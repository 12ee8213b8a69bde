package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateStoreTest {
  private static final byte[] APP_KEY = Hex.bytes("0123456789abcdef00112233");
  private static final Identity IDENTITY = new Identity(ServerFrames.REGISTRATION_ID, ServerFrames.SECRET);
  private static final Wishes WISHES = new Wishes("u_1", Arrays.asList("vip", "北京"), false);

  @TempDir
  Path folder;

  private File path() {
    return folder.resolve("state").toFile();
  }

  private static StoredState load(File path) throws IOException {
    StateStore store = new StateStore(path);
    try {
      return store.load(APP_KEY, null);
    } finally {
      store.close();
    }
  }

  private static StateRecord ids(int kind, Long... ids) {
    return StateRecord.ids(kind, Arrays.asList(ids));
  }

  @Test
  void everythingIsThereAfterAReopen() throws Exception {
    StateStore store = new StateStore(path());
    byte[] fingerprint = store.load(APP_KEY, null).fingerprint;
    assertEquals(16, fingerprint.length);
    assertTrue(store.append(StateRecord.identity(APP_KEY, IDENTITY), true));
    assertTrue(store.append(StateRecord.wishes(WISHES), false));
    assertTrue(store.append(ids(StateRecord.IN_HAND, 1L, 2L, 3L), false));
    assertTrue(store.append(ids(StateRecord.HANDLED, 2L), false));
    store.close();
    assertFalse(store.append(ids(StateRecord.HANDLED, 3L), false));
    StoredState stored = load(path());
    assertArrayEquals(fingerprint, stored.fingerprint);
    assertEquals(IDENTITY, stored.identity);
    assertEquals(WISHES, stored.wishes);
    assertEquals(new TreeSet<>(Arrays.asList(1L, 3L)), stored.inHand);
    assertEquals(Collections.singletonList(2L), stored.handled.oldestFirst());
  }

  @Test
  void aRegistrationOfAnotherAppIsIgnored() throws Exception {
    StateStore store = new StateStore(path());
    store.load(APP_KEY, null);
    store.append(StateRecord.identity(APP_KEY, IDENTITY), true);
    store.close();
    StateStore other = new StateStore(path());
    assertNull(other.load(new byte[12], null).identity);
    other.close();
    assertEquals(IDENTITY, load(path()).identity);
  }

  @Test
  void aFormerRegistrationIdIsTheFingerprint() throws Exception {
    StateStore store = new StateStore(path());
    assertEquals("jpush:190e35f7e07a8fc5b1d",
        new String(store.load(APP_KEY, "190e35f7e07a8fc5b1d").fingerprint));
    store.close();
    // Too long for a fingerprint.
    StateStore other = new StateStore(folder.resolve("other").toFile());
    assertEquals(16, other.load(APP_KEY, String.join("", Collections.nCopies(59, "a"))).fingerprint.length);
    other.close();
  }

  /** A file that the Swift library wrote, and what is in it. */
  @Test
  void theFormatIsThatOfAllLibraries() throws Exception {
    byte[] identity = StateRecord.identity(APP_KEY, IDENTITY).encode(7);
    String expected = "00000007" + "02" + "00000026" + "0123456789abcdef00112233" + "1a2b3c4d5e6f7081"
        + "0923"
        + "000102030405060708090a0b0c0d0e0f";
    assertTrue(Hex.of(identity).startsWith(expected));
    byte[] wishes = StateRecord.wishes(new Wishes("a", Arrays.asList("x", "y"), true)).encode(0);
    assertTrue(Hex.of(wishes).startsWith("00000000" + "04" + "00000008" + "0101" + "0161" + "0178" + "0179"));
    byte[] handled = ids(StateRecord.HANDLED, 1L).encode(0);
    assertTrue(Hex.of(handled).startsWith("00000000" + "06" + "00000008" + "0000000000000001"));
    assertEquals("42524c5344455601", Hex.of(StateFile.HEADER));
  }

  @Test
  void onlyItsOwnerReadsIt() throws Exception {
    load(path());
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path().toPath())));
  }

  @Test
  void oneClientAtATime() throws Exception {
    StateStore store = new StateStore(path());
    assertThrows(IOException.class, () -> new StateStore(path()));
    store.close();
    load(path());
  }

  @Test
  void otherFilesAreRefusedAndLeftAlone() throws Exception {
    byte[] other = Wire.utf8("something else");
    Files.write(path().toPath(), other);
    assertThrows(IOException.class, () -> new StateStore(path()));
    assertArrayEquals(other, Files.readAllBytes(path().toPath()));
    File inside = Files.createDirectory(folder.resolve("inside")).toFile();
    assertThrows(IOException.class, () -> new StateStore(inside));
    assertThrows(IOException.class, () -> new StateStore(folder.resolve("none/state").toFile()));
    assertThrows(IOException.class, () -> new StateStore(new File("/proc/borealis-state")));
  }

  private byte[] sample(List<Integer> ends) throws Exception {
    StateStore store = new StateStore(path());
    store.load(APP_KEY, null);
    ends.add(Files.readAllBytes(path().toPath()).length);
    for (StateRecord record
        : Arrays.asList(StateRecord.identity(APP_KEY, IDENTITY), StateRecord.wishes(WISHES),
        ids(StateRecord.HANDLED, 1L, 2L), ids(StateRecord.IN_HAND, 3L))) {
      store.append(record, false);
      ends.add(Files.readAllBytes(path().toPath()).length);
    }
    store.close();
    return Files.readAllBytes(path().toPath());
  }

  private static String summary(StoredState state, byte[] fingerprint) {
    return (Arrays.equals(state.fingerprint, fingerprint) ? "1" : "0") + (state.identity == null ? "0" : "1")
        + (state.wishes.equals(WISHES) ? "1" : "0")
        + (state.handled.contains(1) && state.handled.contains(2) ? "1" : "0")
        + (state.inHand.contains(3L) ? "1" : "0");
  }

  /** Wherever a crash cuts the file, the records before the cut are there, and new ones can follow. */
  @Test
  void everyCut() throws Exception {
    List<Integer> ends = new ArrayList<>();
    byte[] whole = sample(ends);
    byte[] fingerprint = load(path()).fingerprint;
    for (int cut = 0; cut <= whole.length; cut++) {
      File file = folder.resolve("cut").toFile();
      Files.write(file.toPath(), Arrays.copyOf(whole, cut));
      StateStore store = new StateStore(file);
      StringBuilder expected = new StringBuilder();
      for (int end : ends) expected.append(end <= cut ? "1" : "0");
      assertEquals(expected.toString(), summary(store.load(APP_KEY, null), fingerprint), "cut at " + cut);
      assertTrue(store.append(ids(StateRecord.HANDLED, 99L), false));
      store.close();
      assertTrue(load(file).handled.contains(99));
    }
  }

  /** Whichever byte is damaged, only its record is lost. */
  @Test
  void everyDamagedByte() throws Exception {
    List<Integer> ends = new ArrayList<>();
    byte[] whole = sample(ends);
    byte[] fingerprint = load(path()).fingerprint;
    for (int place = StateFile.HEADER.length; place < whole.length; place++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] damaged = whole.clone();
        damaged[place] ^= 1 << bit;
        StringBuilder expected = new StringBuilder();
        int start = 0;
        for (int end : ends) {
          expected.append(place >= start && place < end ? "0" : "1");
          start = end;
        }
        StoredState state =
            StoredState.of(Arrays.copyOfRange(damaged, StateFile.HEADER.length, damaged.length));
        assertEquals(expected.toString(), summary(state, fingerprint), "byte " + place + ", bit " + bit);
      }
    }
  }

  @Test
  void garbageAtTheEndIsDropped() throws Exception {
    byte[] whole = sample(new ArrayList<>());
    for (byte[] garbage : new byte[][] {new byte[40], {-1, 1, 2, 3}}) {
      Files.write(path().toPath(), DeviceKey.concat(whole, garbage));
      load(path());
      assertArrayEquals(whole, Files.readAllBytes(path().toPath()));
    }
  }

  /** Records of other kinds and other devices are kept when the file is rewritten. */
  @Test
  void unknownRecordsAreKept() throws Exception {
    byte[] whole = sample(new ArrayList<>());
    byte[] notified = ids(7, 5L).encode(0);
    byte[] otherDevice = ids(StateRecord.HANDLED, 77L).encode(3);
    Files.write(path().toPath(), DeviceKey.concat(whole, DeviceKey.concat(notified, otherDevice)));
    StateStore store = new StateStore(path());
    assertFalse(store.load(APP_KEY, null).handled.contains(77));
    store.drop(Collections.singletonList(1L));
    store.close();
    String bytes = Hex.of(Files.readAllBytes(path().toPath()));
    assertTrue(bytes.contains(Hex.of(notified)) && bytes.contains(Hex.of(otherDevice)));
  }

  @Test
  void theFileStaysShort() throws Exception {
    StateStore store = new StateStore(path());
    byte[] fingerprint = store.load(APP_KEY, null).fingerprint;
    store.append(StateRecord.identity(APP_KEY, IDENTITY), true);
    for (long id = 1; id <= 20_000; id++) {
      store.append(ids(StateRecord.IN_HAND, id), false);
      store.append(ids(StateRecord.HANDLED, id), false);
      assertTrue(path().length() < 160 * 1024);
    }
    store.close();
    StoredState stored = load(path());
    assertArrayEquals(fingerprint, stored.fingerprint);
    assertEquals(IDENTITY, stored.identity);
    assertTrue(stored.inHand.isEmpty());
    assertTrue(stored.handled.contains(20_000) && stored.handled.contains(20_001 - RecentMessages.CAPACITY));
    assertFalse(stored.handled.contains(20_000 - RecentMessages.CAPACITY));
    assertFalse(folder.resolve("state.new").toFile().exists());
  }

  /** A file that cannot grow: what was added before is there, and nothing of what was refused. */
  @Test
  void aFullDisk() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Process process =
        new ProcessBuilder("bash", "-c", "ulimit -f 8 && exec \"$@\"", "bash", java, "-XX:-UsePerfData",
        "-cp", System.getProperty("java.class.path"), FullDisk.class.getName(), path().getPath())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes(), Wire.UTF_8).trim();
    assertEquals(0, process.waitFor());
    long added = Long.parseLong(output);
    assertTrue(added > 100, output);
    StoredState stored = load(path());
    assertNotEquals(0, stored.fingerprint.length);
    for (long id = 1; id <= added; id++) assertTrue(stored.handled.contains(id), "push " + id);
    assertFalse(stored.handled.contains(added + 1));
  }

  /** Adds records until the file cannot grow, and prints how many it added. */
  static final class FullDisk {
    public static void main(String[] arguments) throws Exception {
      StateStore store = new StateStore(new File(arguments[0]));
      store.load(APP_KEY, null);
      long id = 0;
      while (store.append(ids(StateRecord.HANDLED, id + 1), false)) id++;
      // Still refused, and still nothing of it in the file.
      if (store.append(ids(StateRecord.HANDLED, 1_000_000L), true)) throw new AssertionError("not full");
      System.out.println(id);
    }
  }
}
