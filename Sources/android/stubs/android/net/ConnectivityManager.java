package android.net;

import java.util.ArrayList;
import java.util.List;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class ConnectivityManager {
  /** For tests: what is registered. */
  public final List<NetworkCallback> registered = new ArrayList<>();
  /** For tests: whether the app lacks the permission. */
  public boolean refuses;

  public void registerNetworkCallback(NetworkRequest request, NetworkCallback callback) {
    if (refuses) throw new SecurityException("ACCESS_NETWORK_STATE");
    registered.add(callback);
  }

  public void unregisterNetworkCallback(NetworkCallback callback) {
    registered.remove(callback);
  }

  public static class NetworkCallback {
    public void onAvailable(Network network) {}

    public void onLost(Network network) {}
  }
}
