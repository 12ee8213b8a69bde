package com.vivo.push;

import android.content.Context;
import com.vivo.push.listener.IPushQueryActionListener;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public class PushClient {
  private static final PushClient INSTANCE = new PushClient();

  private boolean isReady;

  public static PushClient getInstance(Context context) {
    return INSTANCE;
  }

  public boolean isSupport() {
    return isReady;
  }

  public void initialize(PushConfig config) {
    isReady = config.agreed;
  }

  public void turnOnPush(IPushActionListener listener) {
    listener.onStateChanged(isReady ? 0 : 102);
  }

  public void getRegId(IPushQueryActionListener listener) {
    listener.onSuccess("vivo-token");
  }
}
