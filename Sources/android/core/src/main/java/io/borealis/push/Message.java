package io.borealis.push;

import java.util.Collections;
import java.util.Map;

/** A message that only the app sees: what JPush's push API has under {@code message}. */
public final class Message {
  private final Map<String, Object> members;

  Message(Map<String, Object> members) {
    this.members = members;
  }

  /** The text; null if the content is not a text, see {@link #members}. */
  @Nullable
  public String content() {
    return Json.string(members.get("msg_content"));
  }

  /** The title; null if there is none. */
  @Nullable
  public String title() {
    return Json.string(members.get("title"));
  }

  /** The type of the content, in the words of the app server; null if there is none. */
  @Nullable
  public String contentType() {
    return Json.string(members.get("content_type"));
  }

  /** Values of the app server; empty if there are none. */
  public Map<String, Object> extras() {
    Map<String, Object> extras = Json.object(members.get("extras"));
    return extras == null ? Collections.<String, Object>emptyMap() : extras;
  }

  /**
   * All members. Values are String, Long, Double, Boolean, null, List or Map; lists and maps cannot be
   * modified.
   */
  public Map<String, Object> members() {
    return members;
  }
}
