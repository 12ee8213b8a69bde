package android.os;

import java.util.TreeMap;

/** As much of Android's class as the library and its pages use. */
public final class Bundle {
  private final TreeMap<String, Object> values = new TreeMap<>();

  public Object get(String name) {
    return values.get(name);
  }

  public void putString(String name, String value) {
    values.put(name, value);
  }

  public void putInt(String name, int value) {
    values.put(name, value);
  }

  public void putBoolean(String name, boolean value) {
    values.put(name, value);
  }

  @Override
  public String toString() {
    return values.toString();
  }
}
