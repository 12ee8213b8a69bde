package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Known answers of the standards, and what must be refused. */
class KeyTest {
  private static byte[] url(String text) {
    return java.util.Base64.getUrlDecoder().decode(text);
  }

  /** RFC 8188 section 3.1: one record, a key without a name. */
  @Test
  void oneRecord() throws Exception {
    byte[] sealed = url("I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg");
    byte[] plain = new ContentCoding(sealed).open(url("yqdlZ-tYemfogSmv7Ws5PQ"));
    assertEquals("I am the walrus", new String(plain, Wire.UTF_8));
  }

  /** RFC 8188 section 3.2: two records, the first with padding. */
  @Test
  void twoRecords() throws Exception {
    byte[] sealed =
        url("uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3"
            + "SsLWIqS_uA");
    byte[] secret = url("BO3ZVPxUlnLORbVGMpbT1Q");
    assertEquals("a1", new String(new ContentCoding(sealed).keyName(), Wire.UTF_8));
    assertEquals("I am the walrus", new String(new ContentCoding(sealed).open(secret), Wire.UTF_8));
    // Cut between the records, or anywhere else.
    for (int cut = 0; cut < sealed.length; cut++) {
      byte[] part = Arrays.copyOf(sealed, cut);
      assertThrows(ContentException.class, () -> new ContentCoding(part).open(secret));
    }
    for (int place = 0; place < sealed.length; place++) {
      // The key's name is not part of what the cipher protects.
      if (place >= 21 && place < 23) continue;
      byte[] damaged = sealed.clone();
      damaged[place] ^= 1;
      assertThrows(ContentException.class, () -> new ContentCoding(damaged).open(secret), "byte " + place);
    }
  }

  /** RFC 8291 section 5 and appendix A. */
  @Test
  void webPush() throws Exception {
    byte[] point =
    url("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
    byte[] half = DeviceKey.concat(point, url("BTBZMqHH6r4Tts7J_aSIgg"));
    byte[] bytes = DeviceKey.concat(url("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"), half);
    DeviceKey key = DeviceKey.read(DeviceKey.P256, bytes);
    assertArrayEquals(bytes, key.bytes());
    assertArrayEquals(half, key.publicBytes());
    byte[] sealed =
        url("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6"
        + "TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu"
        + "lcy4a-fN");
    assertEquals("When I grow up, I want to be a watermelon", new String(key.open(sealed), Wire.UTF_8));
    // The sender's point is not on the curve any more.
    sealed[40] ^= 1;
    assertEquals(ResultCode.CONTENT_DAMAGED,
        assertThrows(ContentException.class, () -> key.open(sealed)).code);
  }

  /** RFC 7748 section 6.1. */
  @Test
  void x25519() throws Exception {
    byte[] alice = Hex.bytes("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
    byte[] bob = Hex.bytes("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    assertEquals("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
        Hex.of(X25519Curve.point(alice)));
    assertEquals("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742",
        Hex.of(X25519Curve.agree(alice, bob)));
  }

  @ParameterizedTest
  @ValueSource(ints = {DeviceKey.X25519, DeviceKey.P256})
  void keysAreReadBack(int kind) throws Exception {
    DeviceKey key = DeviceKey.create(kind);
    DeviceKey read = DeviceKey.read(kind, key.bytes());
    assertEquals(key.id(), read.id());
    byte[] sealed = Sealer.seal(Wire.utf8("hello"), key);
    assertEquals("hello", new String(read.open(sealed), Wire.UTF_8));
    DeviceKey other = DeviceKey.create(kind);
    assertThrows(ContentException.class, () -> other.open(sealed));
    // Halves of two keys.
    byte[] mixed = key.bytes();
    System.arraycopy(other.bytes(), 0, mixed, 0, 32);
    assertThrows(GeneralSecurityException.class, () -> DeviceKey.read(kind, mixed));
    assertThrows(GeneralSecurityException.class, () -> DeviceKey.read(3, key.bytes()));
  }

  /** All of these give the same secret to everybody. */
  @Test
  void pointsOfSmallOrderAreRefused() throws Exception {
    DeviceKey key = DeviceKey.create(DeviceKey.X25519);
    byte[] scalar = Arrays.copyOf(key.bytes(), 32);
    for (String point : new String[] {
      "0000000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000000",
      "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    }) {
      assertThrows(GeneralSecurityException.class, () -> X25519Curve.agree(scalar, Hex.bytes(point)), point);
    }
  }

  @Test
  void base64() {
    assertArrayEquals(new byte[0], Base64.decode(""));
    assertArrayEquals(new byte[] {(byte) 0xFB}, Base64.decode("+w=="));
    assertArrayEquals(new byte[] {1, 2}, Base64.decode("AQI="));
    assertArrayEquals(new byte[] {1, 2, 3}, Base64.decode("AQID"));
    for (String wrong : new String[] {"A", "AQ", "AQI", "A===", "AQ==AQ==", "AR==", "-w==", "AQ I", "===="}) {
      assertFalse(Base64.decode(wrong) != null, wrong);
    }
    assertTrue(Base64.decode(null) == null);
  }
}
