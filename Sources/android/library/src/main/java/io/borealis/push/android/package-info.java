/**
 * The device library of Borealis as a part of an Android app: {@link io.borealis.push.android.Borealis}
 * connects {@link io.borealis.push.PushClient} with the app's life and the network.
 */
package io.borealis.push.android;
