package io.borealis.push.android;

import android.content.Context;
import android.net.ConnectivityManager;
import android.net.Network;
import android.net.NetworkCapabilities;
import android.net.NetworkRequest;
import io.borealis.push.PushClient;

/** Tells a client when the network changes. */
final class NetworkWatch extends ConnectivityManager.NetworkCallback {
  private final ConnectivityManager manager;
  private final PushClient client;

  private NetworkWatch(ConnectivityManager manager, PushClient client) {
    this.manager = manager;
    this.client = client;
  }

  /**
   * Null if the app has taken the permission away, or the system does not allow one more watch: reconnections
   * then wait.
   */
  static NetworkWatch start(Context context, PushClient client) {
    Object service = context.getSystemService(Context.CONNECTIVITY_SERVICE);
    ConnectivityManager manager = (ConnectivityManager) service;
    if (manager == null) return null;
    NetworkWatch watch = new NetworkWatch(manager, client);
    NetworkRequest anyWithInternet =
        new NetworkRequest.Builder().addCapability(NetworkCapabilities.NET_CAPABILITY_INTERNET).build();
    try {
      manager.registerNetworkCallback(anyWithInternet, watch);
      return watch;
    } catch (RuntimeException error) {
      return null;
    }
  }

  void end() {
    manager.unregisterNetworkCallback(this);
  }

  @Override
  public void onAvailable(Network network) {
    client.networkChanged();
  }

  @Override
  public void onLost(Network network) {
    client.networkChanged();
  }
}
