package io.borealis.push.makers;

import android.content.Intent;
import io.borealis.push.Nullable;
import io.borealis.push.Push;
import io.borealis.push.PushClient;
import java.util.Map;

/** Taps on notifications that a maker's service has shown. */
public final class MakerTaps {
  private static final String MESSAGE_ID = "msg_id";
  private static final String EXTRAS = "extras";
  /** {@code PushMessageHelper.KEY_MESSAGE} of Mi Push: dev.mi.com, pId=1692, as of October 2024. */
  private static final String XIAOMI_MESSAGE = "key_message";

  private MakerTaps() {}

  /**
   * The push whose notification the user tapped to open an activity; it is reported as tapped. It has its
   * message ID and its notification's extras. Call it in {@code onCreate} and {@code onNewIntent} of the
   * launcher activity, after the client was started.
   *
   * @param intent the activity's intent, from which the push is taken: another call gives null
   * @param client reports the tap
   * @return null if the activity was opened in another way
   */
  @Nullable
  public static Push takeTapped(@Nullable Intent intent, PushClient client) {
    Push tapped = intent == null ? null : tapped(intent);
    if (tapped == null) return null;
    intent.removeExtra(MESSAGE_ID);
    intent.removeExtra(XIAOMI_MESSAGE);
    client.reportTapped(tapped.messageId());
    return tapped;
  }

  private static Push tapped(Intent intent) {
    String id = intent.getStringExtra(MESSAGE_ID);
    if (id != null) return push(id, intent.getStringExtra(EXTRAS));
    Object message = intent.getSerializableExtra(XIAOMI_MESSAGE);
    if (message == null) return null;
    try {
      Object content = Maker.call(message.getClass(), message, "getContent", Maker.types());
      // The push type reads JSON.
      Push read = Push.of(0, "{\"notification\":" + content + "}");
      Map<String, Object> members = read.notification() == null ? null : read.notification().members();
      if (members == null || !(members.get(MESSAGE_ID) instanceof String)) return null;
      Push whole = push((String) members.get(MESSAGE_ID), null);
      return whole == null ? null : Push.of(whole.messageId(), read.json());
    } catch (Exception error) {
      return null;
    }
  }

  private static Push push(String id, String extras) {
    try {
      String object = extras == null || extras.isEmpty() ? "{}" : extras;
      return Push.of(Long.parseLong(id), "{\"notification\":{\"extras\":" + object + "}}");
    } catch (NumberFormatException error) {
      return null;
    }
  }
}
