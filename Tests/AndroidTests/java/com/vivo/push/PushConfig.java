package com.vivo.push;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public class PushConfig {
  final boolean agreed;

  private PushConfig(boolean agreed) {
    this.agreed = agreed;
  }

  public static class Builder {
    private boolean agreed;

    public Builder agreePrivacyStatement(boolean agreed) {
      this.agreed = agreed;
      return this;
    }

    public PushConfig build() {
      return new PushConfig(agreed);
    }
  }
}
