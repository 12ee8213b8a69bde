package android.net;

/** As much of Android's class as the library and its pages use. */
public final class NetworkCapabilities {
  public static final int NET_CAPABILITY_INTERNET = 12;

  private NetworkCapabilities() {}
}
