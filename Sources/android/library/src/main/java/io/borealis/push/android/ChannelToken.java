package io.borealis.push.android;

import android.content.Context;

/**
 * Where the token of a channel comes from, such as FCM's or a phone maker's library. Pass yours to
 * {@link Borealis#reportTokens}; {@code borealis-makers.aar} has one for each maker.
 */
public interface ChannelToken {
  /**
   * The channel's name at the server.
   *
   * @return such as {@code fcm} or {@code xiaomi}
   */
  String channel();

  /**
   * Obtains the token if this phone has the channel. Called at each start after the user has agreed, on a
   * thread of its own, so it may wait.
   *
   * @param context the app
   * @param receiver gets the token, now or later, on any thread, and again when it changes
   * @throws Exception if that fails; the next start tries again
   */
  void obtain(Context context, Receiver receiver) throws Exception;

  /** Gets a token. */
  interface Receiver {
    /**
     * The channel has issued a token.
     *
     * @param token the token; null and empty ones are ignored
     */
    void onToken(String token);
  }
}
