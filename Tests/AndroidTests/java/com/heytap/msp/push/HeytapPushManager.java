package com.heytap.msp.push;

import android.content.Context;
import android.os.Build;
import com.heytap.msp.push.callback.ICallBackResultService;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public class HeytapPushManager {
  private static boolean isReady;

  public static void init(Context context, boolean logs) {
    isReady = true;
  }

  public static boolean isSupportPush(Context context) {
    return isReady && Build.MANUFACTURER.equals("OPPO");
  }

  public static void register(Context context, String key, String secret, ICallBackResultService callback) {
    callback.onRegister(14, "not yet");
    callback.onRegister(0, "oppo-token of " + key + " " + secret);
  }
}
