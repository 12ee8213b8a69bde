package io.borealis.jpush;

import android.content.Context;

/** The user's consent. */
public final class JCollectionAuth {
  private JCollectionAuth() {}

  /**
   * Without consent {@link JPushInterface#init} does nothing; with it, an earlier call of init takes effect.
   * Call it at each start, before init.
   *
   * @param context any context of the app
   * @param auth whether the user has agreed; true if this is never called
   */
  public static void setAuth(Context context, boolean auth) {
    Hub.setConsent(auth);
  }
}
