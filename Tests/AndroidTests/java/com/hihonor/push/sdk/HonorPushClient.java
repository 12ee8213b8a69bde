package com.hihonor.push.sdk;

import android.content.Context;
import android.os.Build;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public class HonorPushClient {
  private static final HonorPushClient INSTANCE = new HonorPushClient();

  private boolean isReady;

  public static HonorPushClient getInstance() {
    return INSTANCE;
  }

  public boolean checkSupportHonorPush(Context context) {
    return Build.MANUFACTURER.equals("HONOR");
  }

  public void init(Context context, boolean requestsToken) {
    isReady = true;
  }

  public void getPushToken(HonorPushCallback<String> callback) {
    if (isReady) callback.onSuccess("honor-token");
    else callback.onFailure(8001002, "not initialized");
  }
}
