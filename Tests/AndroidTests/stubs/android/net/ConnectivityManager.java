package android.net;

/** As much of Android as Docs/android.md uses. */
public class ConnectivityManager {
  public void registerDefaultNetworkCallback(NetworkCallback callback) {
    throw new UnsupportedOperationException();
  }

  public static class NetworkCallback {
    public void onAvailable(Network network) {}
  }
}
