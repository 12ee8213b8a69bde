package com.xiaomi.mipush.sdk;

import android.content.Context;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public abstract class MiPushClient {
  private static String registered;
  private static int asked;

  public static void registerPush(Context context, String appId, String appKey) {
    registered = appId + " " + appKey;
    asked = 0;
  }

  /** Null until the service has answered. */
  public static String getRegId(Context context) {
    return asked++ == 0 ? null : "mi-token of " + registered;
  }
}
