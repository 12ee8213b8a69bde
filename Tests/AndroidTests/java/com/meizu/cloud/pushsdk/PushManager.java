package com.meizu.cloud.pushsdk;

import android.content.Context;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public class PushManager {
  private static String registered;

  public static void register(Context context, String appId, String appKey) {
    registered = appId + " " + appKey;
  }

  public static String getPushId(Context context) {
    return "meizu-token of " + registered;
  }
}
