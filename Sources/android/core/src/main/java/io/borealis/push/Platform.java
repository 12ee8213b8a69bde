package io.borealis.push;

/** What the device runs. The app server addresses devices by it. */
public enum Platform {
  /** Android. */
  ANDROID(2),
  /** HarmonyOS. */
  HARMONYOS(3),
  /** Quick apps. */
  QUICK_APP(4);

  final int number;

  Platform(int number) {
    this.number = number;
  }
}
