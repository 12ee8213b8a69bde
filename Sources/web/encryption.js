// Contents that only a device reads, Docs/encryption.md: the coding aes128gcm with a key of the kind p256, which WebCrypto has
// everywhere (RFC 8291). Without WebCrypto, as on a page over plain HTTP from another machine, there are no keys.

const P256 = { name: "ECDH", namedCurve: "P-256" };
const KIND = 2;
const MOST_SHARED = 32;
// Old keys that are kept at a time, and for how long after the server has a newer one: no push is kept for longer than ten days.
const MOST_OLD = 16, OLD_LIFE_MS = 11 * 86400000;
export const KEY_GONE = 6040;
export const DAMAGED = 6042;
const MALFORMED = 6041;
const AES = 1;

const utf8 = new TextEncoder();

// Why a content cannot be read; with `missing` it may be read later.
export class Unreadable extends Error {
  constructor(code, missing = null) {
    super(`code ${code}`);
    Object.assign(this, { code, missing });
  }
}

function toBase64(bytes) { return btoa(String.fromCharCode(...bytes)); }

function fromBase64(text) {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new Unreadable(MALFORMED);
  }
}

function toHex(bytes) { return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""); }

function join(...parts) { return Uint8Array.from(parts.flatMap((part) => [...part])); }

async function derive(salt, secret, info, count) {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, count * 8));
}

function header(bytes) {
  const end = 21 + (bytes[20] ?? 0);
  if (bytes.length < end + 17) throw new Unreadable(MALFORMED);
  return { salt: bytes.subarray(0, 16), keyName: bytes.subarray(21, end), record: bytes.subarray(end) };
}

// RFC 8188 with one record: the input of its derivation opens it.
async function open({ salt, record }, input) {
  const [key, iv] = await Promise.all([["aes128gcm", 16], ["nonce", 12]].map(
    ([name, count]) => derive(salt, input, utf8.encode(`Content-Encoding: ${name}\0`), count)));
  const cipher = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
  let plain;
  try {
    plain = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv, tagLength: 128 }, cipher, record));
  } catch {
    throw new Unreadable(DAMAGED);
  }
  const end = plain.findLastIndex((byte) => byte !== 0);
  if (plain[end] !== 2) throw new Unreadable(MALFORMED);
  return plain.subarray(0, end);
}

// The keys of a device: its own key pairs, the last of which the server is told, and those that app servers share with it.
// They stand in `state.values.keys`, which another tab may replace at any time: read there each time, and changed by
// `state.changeKeys` alone.
export class Keys {
  constructor(state) { this.state = state; }

  static get isPossible() { return globalThis.crypto?.subtle !== undefined; }

  // All of the device's own, the oldest first. Earlier pages kept only one.
  static #all(keys) { return [keys?.own ?? []].flat(); }

  get own() { return Keys.#all(this.state.values.keys).at(-1); }

  get #shared() { return this.state.values.keys?.shared ?? []; }

  // The ID of the device's key.
  get id() { return this.own?.id; }

  // Makes the device's key unless there is one; true if it was made.
  make() { return this.#add((own) => own.length === 0); }

  // Makes a key that replaces the device's; false if it cannot be stored, or too many old ones are kept.
  rotate() { return this.#add((own) => own.length <= MOST_OLD); }

  async #add(isWanted) {
    if (!Keys.isPossible) return false;
    return this.state.changeKeys(async (keys) => {
      const own = Keys.#all(keys);
      if (!isWanted(own)) return null;
      const pair = await crypto.subtle.generateKey(P256, true, ["deriveBits"]);
      const point = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", point));
      const key = {
        id: toHex(digest.subarray(0, 8)), point: toBase64(point), auth: toBase64(crypto.getRandomValues(new Uint8Array(16))),
        secret: await crypto.subtle.exportKey("jwk", pair.privateKey), since: null,
      };
      return { own: [...own, key], shared: keys?.shared ?? [] };
    });
  }

  // The server has a key: those before it are old from now on. One that is old for long enough goes.
  noteTold(id) {
    return this.state.changeKeys((keys) => {
      let own = Keys.#all(keys);
      const known = own.findIndex((key) => key.id === id);
      const now = Date.now();
      own = own.map((key, place) => place <= known ? { ...key, since: key.since ?? now } : key);
      const first = own.findIndex((_, place) => place >= known || own[place + 1].since + OLD_LIFE_MS > now);
      return { own: own.slice(Math.max(first, 0)), shared: keys?.shared ?? [] };
    });
  }

  // Takes a key away that the server refused, unless it is the only one.
  discard(id) {
    return this.state.changeKeys((keys) => {
      const own = Keys.#all(keys);
      return own.length > 1 ? { ...keys, own: own.filter((key) => key.id !== id) } : null;
    });
  }

  // What SET_KEY says: kind, and point with `auth`.
  get told() { return [KIND, join(fromBase64(this.own.point), fromBase64(this.own.auth))]; }

  // Takes a shared key as the server gave it; false if it is not for this device.
  async take(id, sealed) {
    for (const own of Keys.#all(this.state.values.keys).reverse()) {
      try {
        const key = await Keys.#openOwn(own, header(sealed));
        if (key.length !== 33 || key[0] !== AES) return false;
        const secret = toBase64(key.subarray(1));
        return await this.state.changeKeys((keys) => ({
          ...keys, shared: [...(keys?.shared ?? []).filter((one) => one.id !== id), { id, secret }].slice(-MOST_SHARED),
        }));
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
      }
    }
    return false;
  }

  static async #openOwn({ point, auth, secret }, parts) {
    const own = fromBase64(point);
    const [key, sender] = await Promise.all([
      crypto.subtle.importKey("jwk", secret, P256, false, ["deriveBits"]),
      // A point that is not on the curve is refused here.
      crypto.subtle.importKey("raw", parts.keyName, P256, false, []).catch(() => { throw new Unreadable(DAMAGED); }),
    ]);
    const common = new Uint8Array(await crypto.subtle.deriveBits({ name: "ECDH", public: sender }, key, 256));
    const info = join(utf8.encode("WebPush: info\0"), own, parts.keyName);
    return open(parts, await derive(fromBase64(auth), common, info, 32));
  }

  // Opens the parts of a content that are enciphered, all of them or none; gives what the device is to show, and the
  // key's ID. Throws `Unreadable`.
  async read(content) {
    const opened = { ...content };
    let last = null;
    for (const part of ["notification", "message"]) {
      const encrypted = content[part]?.encrypted;
      if (encrypted === undefined) continue;
      const { alg, key: id, data } = encrypted ?? {};
      if (alg !== "aes128gcm" || !/^[0-9a-f]{16}$/.test(id) || typeof data !== "string") throw new Unreadable(MALFORMED);
      opened[part] = await this.#readPart(id, header(fromBase64(data)));
      last = id;
    }
    return { content: opened, key: last };
  }

  async #readPart(id, parts) {
    const isShared = parts.keyName.length === 8;
    let plain;
    if (isShared) {
      if (toHex(parts.keyName) !== id) throw new Unreadable(DAMAGED);
      const key = this.#shared.find((one) => one.id === id);
      if (!key) throw new Unreadable(KEY_GONE, id);
      plain = await open(parts, fromBase64(key.secret));
    } else {
      const key = Keys.#all(this.state.values.keys).find((one) => one.id === id);
      if (!key) throw new Unreadable(KEY_GONE);
      plain = await Keys.#openOwn(key, parts);
    }
    try {
      const object = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(plain));
      if (typeof object === "object" && object !== null && !Array.isArray(object)) return object;
    } catch {
      // Not what an app server should have enciphered.
    }
    throw new Unreadable(MALFORMED);
  }
}

// Whether something of a content is enciphered.
export function isEnciphered(content) {
  return ["notification", "message"].some((part) => content[part]?.encrypted !== undefined);
}
