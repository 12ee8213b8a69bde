package io.borealis.push;

import java.util.Collections;
import java.util.Map;

/** A notification that the app shows: what JPush's push API has under {@code notification.android}. */
public final class Notification {
  private final Map<String, Object> members;

  Notification(Map<String, Object> members) {
    this.members = members;
  }

  /** The text; null if there is none. */
  @Nullable
  public String alert() {
    return Json.string(members.get("alert"));
  }

  /** The title; null if the app's name is to be shown. */
  @Nullable
  public String title() {
    return Json.string(members.get("title"));
  }

  /** Values of the app server; empty if there are none. */
  public Map<String, Object> extras() {
    Map<String, Object> extras = Json.object(members.get("extras"));
    return extras == null ? Collections.<String, Object>emptyMap() : extras;
  }

  /**
   * All members, such as {@code style} and {@code big_text}. Values are String, Long, Double, Boolean, null,
   * List or Map; lists and maps cannot be modified.
   */
  public Map<String, Object> members() {
    return members;
  }
}
