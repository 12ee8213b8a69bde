package android.net;

/** As much of Android's class as the library and its pages use. */
public class NetworkRequest {
  private NetworkRequest() {}

  public static class Builder {
    public Builder addCapability(int capability) {
      return this;
    }

    public NetworkRequest build() {
      return new NetworkRequest();
    }
  }
}
