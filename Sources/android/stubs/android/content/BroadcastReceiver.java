package android.content;

/** As much of Android's class as the library and its pages use. */
public abstract class BroadcastReceiver {
  public abstract void onReceive(Context context, Intent intent);
}
