package android.content;

import java.io.Serializable;
import java.net.URISyntaxException;
import java.util.HashMap;
import java.util.Map;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class Intent {
  public static final int FLAG_ACTIVITY_NEW_TASK = 0x10000000;
  public static final int FLAG_ACTIVITY_CLEAR_TOP = 0x04000000;
  public static final int URI_INTENT_SCHEME = 1;
  public static final int FLAG_ACTIVITY_SINGLE_TOP = 0x20000000;

  /** For tests. */
  public final Map<String, Object> extras = new HashMap<>();
  /** For tests. */
  public Class<?> target;
  /** For tests. */
  public final String action;
  private ComponentName component;

  public Intent() {
    this("");
  }

  public Intent(String action) {
    this.action = action;
  }

  public Intent(Context context, Class<?> target) {
    this("");
    this.target = target;
  }

  public static Intent parseUri(String uri, int flags) throws URISyntaxException {
    if (uri.contains(" ")) throw new URISyntaxException(uri, "a blank");
    return new Intent(uri);
  }

  public ComponentName getComponent() {
    return component;
  }

  public Intent setComponent(ComponentName component) {
    this.component = component;
    return this;
  }

  public Intent addFlags(int flags) {
    return this;
  }

  public Intent putExtra(String name, long value) {
    extras.put(name, value);
    return this;
  }

  public Intent putExtra(String name, int value) {
    extras.put(name, value);
    return this;
  }

  public Serializable getSerializableExtra(String name) {
    return (Serializable) extras.get(name);
  }

  public Intent putExtra(String name, String value) {
    extras.put(name, value);
    return this;
  }

  public boolean hasExtra(String name) {
    return extras.containsKey(name);
  }

  public long getLongExtra(String name, long fallback) {
    return extras.containsKey(name) ? (Long) extras.get(name) : fallback;
  }

  public String getStringExtra(String name) {
    Object value = extras.get(name);
    return value instanceof String ? (String) value : null;
  }

  public void removeExtra(String name) {
    extras.remove(name);
  }
}
