/**
 * The device library of Borealis in the shape of Getui's, so that an app moves by changing its imports and
 * its manifest: Docs/android-from-getui.md. The names follow Getui's public documents; no code is Getui's.
 */
package io.borealis.getui;
