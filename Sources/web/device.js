// A device of Borealis in a web page: the protocol of Docs/protocol.md, versions 1 to 7, over WebSocket (its section 8). It knows
// nothing of the page around it; encryption.js opens what only the device reads.

import { KEY_GONE, Keys, Unreadable, isEnciphered } from "./encryption.js";

const MAX_HANDLED = 2048;
const MAX_KEPT = 20, MAX_RECALLED = 256;
const ANSWER_MS = 10000;
const GOOD_SESSION_MS = 60000;
const NEVER = 0, BACK_OFF = 1, AT_ONCE = 2;
const RECONNECT_AFTER = { 1: AT_ONCE, 2: NEVER, 4: AT_ONCE, 6: NEVER, 7: NEVER };
const DRAIN = 1;
const REGISTER_ANEW = [1011, 6016];
const NO_ANSWER = 6002, TOO_OFTEN = 6011, UNKNOWN_OPERATION = 6017;
// From this version on an acknowledgement says how long ago the push came, in milliseconds.
const WITH_AGES = 3;
const UNKNOWN_AGE = 0xffffffff;
// And from this one on the server takes a key and gives those that are shared.
const WITH_KEYS = 4;
// From this one on it takes tokens of all channels, and from the newest one receipts of in-app messages.
const WITH_TOKENS = 5, WITH_IN_APP = 7, NEWEST = 7;
// Milliseconds until a key is told or asked for again; each time after that twice as long, up to the longest.
const FIRST_PAUSE_MS = 5000, LONGEST_PAUSE_MS = 600000;
const MOST_TELLINGS = 8;
// Seconds for which a push is kept that does not say it, and the least time for which one waits for its key.
const UNKNOWN_LIFE_S = 86400, LEAST_WAIT_MS = 6000;
// Below the minute after which many proxies close a silent connection.
const HEARTBEAT_S = 50;

// MARK: Bytes

const utf8 = new TextEncoder();
const strictUTF8 = new TextDecoder("utf-8", { fatal: true });

function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.position = 0;
  }

  take(count) {
    const end = this.position + count;
    if (end > this.bytes.length) throw new RangeError("a frame ends early");
    const part = this.bytes.subarray(this.position, end);
    this.position = end;
    return part;
  }

  rest() { return this.take(this.bytes.length - this.position); }

  number(count) { return this.take(count).reduce((value, byte) => value * 256 + byte, 0); }
}

// How each kind of field is written (as a list of bytes) and read. A u64 of the protocol fits a number of JavaScript.
const FIELDS = {
  u8: integer(1), u16: integer(2), u32: integer(4), u64: integer(8),
  str8: {
    write: (text) => counted(utf8.encode(text)),
    read: (reader) => strictUTF8.decode(reader.take(reader.number(1))),
  },
  str16: {
    write: (text) => {
      const bytes = utf8.encode(text);
      if (bytes.length > 4096) throw new RangeError("more than 4096 bytes");
      return [bytes.length >> 8, bytes.length & 255, ...bytes];
    },
    read: (reader) => strictUTF8.decode(reader.take(reader.number(2))),
  },
  bytes8: { write: counted, read: (reader) => reader.take(reader.number(1)) },
  rest: { write: (bytes) => [...bytes], read: (reader) => reader.rest() },
  appKey: { write: (text) => [...fromHex(text)], read: (reader) => toHex(reader.take(12)) },
  registrationID: {
    write: (text) => [...fromHex(text + "0")],
    read: (reader) => toHex(reader.take(10)).slice(0, 19),
  },
  secret: { write: (text) => [...fromHex(text)], read: (reader) => toHex(reader.take(16)) },
  tags: {
    write: (tags) => [...FIELDS.u16.write(tags.length), ...tags.flatMap((tag) => FIELDS.str8.write(tag))],
    read: (reader) => Array.from({ length: reader.number(2) }, () => FIELDS.str8.read(reader)),
  },
  keyID: { write: (text) => [...fromHex(text)] },
  ids: { write: (ids) => ids.flatMap((id) => FIELDS.u64.write(id)) },
  aged: { write: (all) => all.flatMap(({ id, age }) => [...FIELDS.u64.write(id), ...FIELDS.u32.write(age)]) },
  receipts: { write: (all) => all.flatMap(({ kind, id }) => [kind, ...FIELDS.u64.write(id)]) },
};

function integer(count) {
  return {
    write: (value) => Array.from({ length: count }, (_, place) => Math.floor(value / 256 ** (count - 1 - place)) % 256),
    read: (reader) => reader.number(count),
  };
}

function counted(bytes) {
  if (bytes.length > 255) throw new RangeError("more than 255 bytes");
  return [bytes.length, ...bytes];
}

// MARK: Frames

const CLIENT_FRAMES = {
  PING: [0x01], HELLO: [0x10, "rest", "u8", "u8", "str8"],
  REGISTER: [0x11, "appKey", "u8", "bytes8", "u8", "bytes8", "str8"],
  LOGIN: [0x12, "appKey", "registrationID", "secret", "u16", "u8"],
  ACK: [0x20, "ids"], ACK_AGE: [0x22, "aged"], RECEIPT: [0x21, "receipts"],
  SET_ALIAS: [0x30, "u32", "str8"], DELETE_ALIAS: [0x31, "u32"], GET_ALIAS: [0x32, "u32"],
  SET_TAGS: [0x33, "u32", "tags"], ADD_TAGS: [0x34, "u32", "tags"], DELETE_TAGS: [0x35, "u32", "tags"],
  CLEAN_TAGS: [0x36, "u32"], GET_TAGS: [0x37, "u32"], CHECK_TAG: [0x38, "u32", "str8"], SET_BADGE: [0x39, "u32", "u32"],
  APP_STATE: [0x3b, "u32", "u8"], LOGOUT: [0x3c, "u32"],
  SET_KEY: [0x3e, "u32", "u8", "bytes8"], GET_KEY: [0x3f, "u32", "keyID"],
  SET_CHANNEL_TOKEN: [0x40, "u32", "str8", "str8", "str8", "str8", "str16"],
};

const SERVER_FRAMES = {
  0x02: ["PONG"], 0x90: ["HELLO_OK", "u8", "u64", "u32"], 0x91: ["REGISTER_OK", "registrationID", "secret"],
  0x92: ["LOGIN_OK", "u16", "u16", "u64", "u32"], 0x93: ["FACTS_WANTED", "u16"], 0xa0: ["PUSH", "u64", "u8", "rest"], 0xa1: ["RECALL", "u64"],
  0xb0: ["RESULT", "u32", "u16", "rest"], 0xe0: ["GO_AWAY", "u8", "u32", "str8"],
  0xe1: ["ERROR", "u16", "u8", "str8"],
};

// What a RESULT with code 0 carries, by operation.
const PAYLOADS = { GET_ALIAS: "str8", GET_TAGS: "tags", CHECK_TAG: "u8", GET_KEY: "bytes8" };

export function encode(name, ...values) {
  const [type, ...layout] = CLIENT_FRAMES[name];
  const body = layout.flatMap((field, index) => FIELDS[field].write(values[index]));
  const length = [];
  let left = body.length + 1;
  while (left > 127) {
    length.push(left % 128 + 128);
    left = Math.floor(left / 128);
  }
  return [...length, left, type, ...body];
}

// The frames of a message, which holds whole ones.
export function decode(message) {
  const reader = new Reader(message);
  const frames = [];
  while (reader.position < message.length) {
    let length = 0, shift = 1, byte;
    do {
      byte = reader.number(1);
      length += (byte & 127) * shift;
      shift *= 128;
    } while (byte > 127);
    const body = new Reader(reader.take(length));
    const [name, ...layout] = SERVER_FRAMES[body.number(1)] ?? [];
    if (!name) throw new RangeError("a frame of an unknown type");
    frames.push({ name, values: layout.map((field) => FIELDS[field].read(body)) });
    if (body.position !== length) throw new RangeError("a frame goes on after its end");
  }
  return frames;
}

// MARK: What outlives the page

// Who the device is, under one name, under another the pushes handled last and those that are shown, and under a third its
// keys: when there is no room for pushes, the registration is not lost with them, and a tab that stores a push does not store
// keys that another tab has changed. Private windows may have no storage: then all of it lasts as long as the page.
export class State {
  constructor(key) {
    this.names = { identity: key, pushes: `${key}.pushes`, keys: `${key}.keys` };
    this.values = {};
    this.isLost = false;
    // Called after what is stored has changed.
    this.changed = () => {};
    this.reload();
  }

  // Takes what is stored, which another tab may have changed; what could not be stored stays.
  reload() {
    if (this.isLost) return;
    try {
      const [identity, pushes, keys] = Object.values(this.names).map((name) => JSON.parse(localStorage.getItem(name)));
      // Earlier pages kept the keys with the identity.
      this.values = { ...identity, ...pushes, keys: keys ?? identity?.keys };
    } catch {
      // No storage, or nothing that we wrote.
    }
    this.values.handled ??= [];
    this.values.recalled ??= [];
    this.values.pushes ??= [];
  }

  // A null key stands for all of them.
  isStoredUnder(key) { return key === null || Object.values(this.names).includes(key); }

  get exists() { return this.values.fingerprint !== undefined; }

  begin(platform) {
    this.values = { platform, fingerprint: toHex(crypto.getRandomValues(new Uint8Array(16))), handled: [], recalled: [], pushes: [] };
    this.save();
  }

  hasHandled(id) { return this.values.handled.includes(id); }

  handle(id) {
    if (!this.hasHandled(id)) this.values.handled = [...this.values.handled, id].slice(-MAX_HANDLED);
  }

  // What was recalled or replaced is gone, also if its notification comes from the worker later.
  recall(id) {
    this.drop(id);
    if (!this.values.recalled.includes(id)) this.values.recalled = [...this.values.recalled, id].slice(-MAX_RECALLED);
  }

  // Whether the page has had the notification that its worker has shown, or it was taken back.
  knowsNotification(id) {
    return this.values.recalled.includes(id) || this.values.pushes.some((push) => push.id === id && push.content.notification);
  }

  // Together with what is kept of it already: its notification may come by the worker, and its message over the connection.
  keep(push) {
    const known = this.values.pushes.find((one) => one.id === push.id);
    this.drop(push.id);
    const kept = known ? { ...push, tapped: known.tapped || push.tapped, content: { ...known.content, ...push.content } } : push;
    this.values.pushes = [...this.values.pushes, kept].slice(-MAX_KEPT);
  }

  drop(id) { this.values.pushes = this.values.pushes.filter((push) => push.id !== id); }

  // Without room for all pushes that are shown, the newer ones are kept, for what was handled has to be known.
  save() {
    const { handled, recalled, pushes, keys, ...identity } = this.values;
    // Before the identity loses them, if it had them.
    const isOwnEntry = keys === undefined || this.#has(this.names.keys) || this.#store(this.names.keys, keys);
    this.isLost = !this.#store(this.names.identity, isOwnEntry ? identity : { ...identity, keys });
    let kept = pushes;
    while (!this.#store(this.names.pushes, { handled, recalled, pushes: kept }) && kept.length > 0) {
      kept = kept.slice(Math.ceil(kept.length / 2));
    }
    this.changed();
  }

  // Changes the keys, one tab after the other. `change` gets them as they are stored, and gives what they are to be, or null to
  // leave them; it may take its time. False if nothing was changed, such as when the device was reset meanwhile.
  changeKeys(change) {
    const work = async () => {
      const { fingerprint } = this.values;
      const keys = await change(this.#storedKeys());
      if (!keys || !this.#isStill(fingerprint)) return false;
      if (!this.isLost && !this.#store(this.names.keys, keys)) return false;
      this.values.keys = keys;
      this.changed();
      return true;
    };
    return navigator.locks ? navigator.locks.request(this.names.keys, work) : work();
  }

  #storedKeys() {
    if (!this.isLost) this.values.keys = this.#load(this.names.keys) ?? this.values.keys;
    return this.values.keys;
  }

  // Another tab's reset may not have come to this one's notice yet.
  #isStill(fingerprint) {
    return this.values.fingerprint === fingerprint
      && (this.isLost || this.#load(this.names.identity)?.fingerprint === fingerprint);
  }

  #load(name) {
    try {
      return JSON.parse(localStorage.getItem(name));
    } catch {
      return null;
    }
  }

  #has(name) { return this.#load(name) !== null; }

  // Whether there was room.
  #store(key, value) {
    try {
      localStorage.setItem(key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  }

  forget() {
    this.values = { handled: [], recalled: [], pushes: [] };
    try {
      for (const name of Object.values(this.names)) localStorage.removeItem(name);
    } catch {
      // No storage.
    }
  }
}

// MARK: The device

// Stays connected from `start` to `stop`. `listener` has a method for whatever happens: `state(name, detail)`,
// `frame(isOurs, name, values)`, `registered(id)`, `push(push)`, `recalled(id)`, `waits(push, key)` for one whose key is
// not there, `unreadable(push, code)`, `keyed(id)` when it has made a key, `told(channel, code)` when the server has answered to
// a token. It may leave out what the page does not need.
export class Device {
  #socket = null;
  #ending = null;
  #timers = [];
  #reconnect = 0;
  #failures = 0;
  #sequence = 0;
  #waiting = new Map();
  #online = 0;
  #lastSent = 0;
  #pinged = 0;
  // When HELLO was sent, and how many milliseconds the server's clock may be ahead of this one.
  #greeted = 0;
  #ahead = 0;
  // Pushes that wait for a key, by its ID.
  #held = new Map();
  #tellings = 0;
  // What is opened, one after the other, so that pushes stay in order.
  #opening = Promise.resolve();
  // What services of channels know it by.
  #tokens = new Map();

  constructor(address, appKey, state, listener = {}) {
    const names = ["state", "frame", "registered", "push", "recalled", "waits", "unreadable", "keyed", "told"];
    this.listener = { ...Object.fromEntries(names.map((name) => [name, () => {}])), ...listener };
    Object.assign(this, { address, appKey, state, isForeground: true });
    // Gives whether a push is to be shown here, for pages whose worker shows pushes as well: nobody else has shown it, nor will.
    this.claim = null;
  }

  get isOnline() { return this.#online > 0; }

  start() {
    this.#leave();
    this.listener.state("connecting");
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.#greet();
    socket.onmessage = (event) => this.#receive(event.data);
    socket.onclose = (event) => this.#closed(event);
    this.#socket = socket;
    this.#ending = null;
    this.#timers = [setTimeout(() => { if (!this.#online) socket.close(); }, ANSWER_MS), setInterval(() => this.#beat(), 5000)];
  }

  // Ends the connection without a word, and stays away.
  stop() {
    this.#leave();
    this.listener.state("stopped");
  }

  #leave() {
    clearTimeout(this.#reconnect);
    if (!this.#socket) return;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#end();
  }

  // Carries out an operation; gives its code, and what the server says besides.
  operate(name, ...values) {
    if (!this.isOnline) return Promise.resolve({ code: NO_ANSWER });
    const sequence = ++this.#sequence;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answer(sequence, NO_ANSWER), ANSWER_MS);
      this.#waiting.set(sequence, { name, resolve, timer });
      this.#send([name, sequence, ...values]);
    });
  }

  // Tells that a notification was tapped.
  tapped(push) {
    push.tapped = true;
    // Another tab may have stored the same push meanwhile.
    for (const kept of this.state.values.pushes) kept.tapped ||= kept.id === push.id;
    this.state.save();
    if (this.isOnline) this.#send(["RECEIPT", [{ kind: 2, id: push.id }]]);
  }

  // Tells that an in-app message was shown in the page, or tapped there.
  reportInApp(push, isTapped) {
    if (this.isOnline && this.version >= WITH_IN_APP) this.#send(["RECEIPT", [{ kind: isTapped ? 4 : 3, id: push.id }]]);
  }

  setForeground(isForeground) {
    this.isForeground = isForeground;
    return this.operate("APP_STATE", Number(isForeground));
  }

  // Sends frames in one message.
  #send(...frames) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(Uint8Array.from(frames.flatMap((frame) => encode(...frame))));
    this.#lastSent = Date.now();
    for (const [name, ...values] of frames) this.listener.frame(true, name, values);
  }

  #greet() {
    this.#greeted = Date.now();
    this.#send(["HELLO", utf8.encode("BRLS"), 1, NEWEST, "web/1"], this.#identify());
  }

  // The frame that follows HELLO: a LOGIN if there is a registration, else a REGISTER for one.
  #identify() {
    const { registrationID, secret, fingerprint, platform } = this.state.values;
    return registrationID
      ? ["LOGIN", this.appKey, registrationID, secret, HEARTBEAT_S, Number(this.isForeground)]
      : ["REGISTER", this.appKey, platform, fromHex(fingerprint), 0, [], "1.0"];
  }

  #receive(message) {
    const came = performance.now();
    const acknowledged = [], shown = [];
    try {
      for (const { name, values } of decode(new Uint8Array(message))) {
        this.listener.frame(false, name, values);
        this.#pinged = 0;
        if (name === "PUSH") this.#push(values, acknowledged, shown, came);
        else this.#handle(name, values);
      }
    } catch (error) {
      console.info("not understood:", error);
      this.#socket?.close();
      return;
    }
    this.#acknowledge(acknowledged, shown, came);
  }

  #acknowledge(acknowledged, shown, came) {
    if (acknowledged.length === 0) return;
    // Stored first: what is acknowledged does not come again.
    this.state.save();
    const age = Math.round(performance.now() - came);
    const frames = [this.version < WITH_AGES
      ? ["ACK", acknowledged.map(({ id }) => id)]
      : ["ACK_AGE", acknowledged.map(({ id, isNew }) => ({ id, age: isNew ? age : UNKNOWN_AGE }))]];
    if (shown.length > 0) frames.push(["RECEIPT", shown.map((id) => ({ kind: 1, id }))]);
    this.#send(...frames);
  }

  #handle(name, values) {
    switch (name) {
      case "HELLO_OK":
        [this.version] = values;
        // Written after HELLO was sent: the server's clock shows no more than what follows from this.
        this.#ahead = Number(values[1]) - this.#greeted;
        break;
      case "REGISTER_OK": {
        const [registrationID, secret] = values;
        Object.assign(this.state.values, { registrationID, secret });
        this.state.save();
        this.listener.registered(registrationID);
        this.#send(this.#identify());
        break;
      }
      case "LOGIN_OK":
        [this.heartbeat] = values;
        this.#online = Date.now();
        this.listener.state("online");
        this.#tellings = 0;
        if (this.version >= WITH_KEYS) this.#tellKey();
        for (const channel of this.#tokens.keys()) this.#tellToken(channel);
        break;
      case "RECALL": {
        const [id] = values;
        this.state.handle(id);
        this.state.recall(id);
        this.state.save();
        for (const [key, wait] of this.#held) {
          const held = wait.pushes.find((push) => push.id === id);
          if (held) this.#release(key, held);
        }
        this.listener.recalled(id);
        break;
      }
      case "RESULT": this.#answer(...values); break;
      case "GO_AWAY": {
        const [reason, retryAfter] = values;
        this.#ending = { reconnect: RECONNECT_AFTER[reason] ?? BACK_OFF, retryAfter, reason };
        if (reason !== DRAIN) this.#socket?.close();
        break;
      }
      case "ERROR": {
        const [code, reconnect, message] = values;
        const isVoid = REGISTER_ANEW.includes(code);
        if (isVoid) {
          delete this.state.values.registrationID;
          this.state.save();
        }
        this.#ending = { reconnect: isVoid ? AT_ONCE : reconnect, retryAfter: 0, message };
        this.#socket?.close();
        break;
      }
    }
  }

  #push([id, flags, content], acknowledged, shown, came) {
    const isNew = !this.state.hasHandled(id);
    if (isNew) {
      const push = { id, isOffline: (flags & 1) === 1, at: Date.now(), tapped: false, content: null };
      try {
        push.content = JSON.parse(strictUTF8.decode(content));
      } catch {
        // Not acknowledged: it was not understood.
        return;
      }
      // Nor is what came so late that another channel brings it: the server sends again what is left.
      if (this.#timeToShow(push) <= 0) return;
      if (this.claim || this.#isSealed(push)) {
        this.#openLater(push, came);
        return;
      }
      this.#show(push, shown);
    }
    acknowledged.push({ id, isNew });
  }

  // Milliseconds until another channel brings its notification.
  #timeToShow(push) { return (push.content.show_before ?? Infinity) - Date.now() - this.#ahead; }

  #show(push, shown) {
    if (push.content.override) {
      this.state.recall(Number(push.content.override));
      this.listener.recalled(Number(push.content.override));
    }
    this.state.handle(push.id);
    const { notification, message } = push.content;
    // Of a notification that the worker has shown, nothing may be left.
    if (notification || message) {
      this.state.keep(push);
      this.listener.push(push);
    }
    if (notification) shown.push(push.id);
  }

  // MARK: Tokens of channels

  // Tells what a channel's service knows the device by, now and at each login; with an empty token the server forgets it. Gives
  // the code of the server's answer, or 6002 until there is a connection.
  setToken(channel, token) {
    this.#tokens.set(channel, token);
    return this.#tellToken(channel);
  }

  async #tellToken(channel) {
    if (!this.isOnline) return NO_ANSWER;
    const token = this.#tokens.get(channel);
    const code = this.version < WITH_TOKENS
      ? UNKNOWN_OPERATION : (await this.operate("SET_CHANNEL_TOKEN", channel, "", "", "", token)).code;
    // It need not be taken away again.
    if (code === 0 && token === "" && this.#tokens.get(channel) === "") this.#tokens.delete(channel);
    this.listener.told(channel, code);
    return code;
  }

  // MARK: Contents that only this device reads

  get #keys() { return new Keys(this.state); }

  // The ID of the device's key, if it has one.
  get keyID() { return this.#keys.id; }

  // Tells the server the device's key, which is made now if there is none, unless the server knows it.
  async #tellKey() {
    const session = this.#socket;
    if (await this.#keys.make()) this.listener.keyed(this.keyID);
    if (!this.#keys.own || this.#socket !== session) return;
    if (this.state.values.toldKey === this.#keyMark) {
      // Old keys may be over.
      await this.#keys.noteTold(this.keyID);
      return;
    }
    const code = await this.#setKey();
    if (code !== 0 && this.#socket === session && this.#tellings < MOST_TELLINGS) {
      this.#timers.push(setTimeout(() => this.#tellKey(), FIRST_PAUSE_MS * 2 ** this.#tellings++));
    }
  }

  get #keyMark() { return `${this.state.values.registrationID} ${this.keyID}`; }

  async #setKey() {
    const [id, mark] = [this.keyID, this.#keyMark];
    const { code } = await this.operate("SET_KEY", ...this.#keys.told);
    if (code !== 0) return code;
    this.state.values.toldKey = mark;
    this.state.save();
    await this.#keys.noteTold(id);
    return code;
  }

  // Makes a new key and tells the server; gives the code of its answer. Contents for the one before can be read for eleven days
  // more. A key that the server refuses goes at once; without an answer it is told again at the next login.
  async rotateKey() {
    if (!await this.#keys.rotate()) return TOO_OFTEN;
    const id = this.keyID;
    const code = await this.#setKey();
    if (code !== 0 && code !== NO_ANSWER) await this.#keys.discard(id);
    this.listener.keyed(this.keyID);
    return code;
  }

  // Without keys it is shown as any client shows it that knows nothing of them.
  #isSealed(push) { return this.#keys.own !== undefined && isEnciphered(push.content); }

  #openLater(push, came) {
    this.#opening = this.#opening.then(() => this.#open(push, came)).catch((error) => console.info("not opened:", error));
  }

  async #open(push, came) {
    // The same push may have come again meanwhile, in another session.
    if (this.state.hasHandled(push.id)) return this.#finish(push, []);
    // Its key may have come too late.
    if (this.#timeToShow(push) <= 0) return;
    try {
      const { content, key } = this.#isSealed(push) ? await this.#keys.read(push.content) : push;
      // Whoever has shown the notification, the message is for the page.
      const { notification, ...rest } = content;
      const isOurs = !notification || !this.claim || await this.claim(push.id);
      // Recalled meanwhile.
      if (this.state.hasHandled(push.id)) return this.#finish(push, []);
      const shown = [];
      this.#show({ ...push, content: isOurs ? content : rest, key }, shown);
      this.#finish(push, shown, came);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      if (error.missing) return this.#hold(push, error.missing);
      this.#giveUp(push, error.code);
    }
  }

  // Acknowledges a push that was opened, or never will be.
  #finish(push, shown, came) { this.#acknowledge([{ id: push.id, isNew: came !== undefined }], shown, came); }

  #giveUp(push, code) {
    this.state.handle(push.id);
    this.listener.unreadable(push, code);
    this.#finish(push, []);
  }

  // Not acknowledged before its key is there, or its time is over. Left alone once another channel brings its notification.
  #hold(push, key) {
    if (!this.isOnline) return;
    const parts = [push.content.notification, push.content.message];
    const life = parts.map((part) => part?.encrypted?.ttl).find(Number.isFinite) ?? UNKNOWN_LIFE_S;
    const isFirst = !this.#held.has(key);
    if (isFirst) this.#held.set(key, { pushes: [], pause: FIRST_PAUSE_MS });
    const held = { ...push };
    const [kept, left] = [Math.max(life * 1000, LEAST_WAIT_MS), this.#timeToShow(push)];
    held.timer = setTimeout(() => {
      this.#release(key, held);
      if (kept < left) this.#giveUp(push, KEY_GONE);
    }, Math.min(kept, left, 2 ** 31 - 1));
    this.#held.get(key).pushes.push(held);
    this.listener.waits(push, key);
    if (isFirst) this.#ask(key);
  }

  #release(key, held) {
    clearTimeout(held.timer);
    const wait = this.#held.get(key);
    if (!wait) return;
    wait.pushes = wait.pushes.filter((push) => push !== held);
    if (wait.pushes.length === 0) {
      clearTimeout(wait.timer);
      this.#held.delete(key);
    }
  }

  async #ask(key) {
    const { code, value } = await this.operate("GET_KEY", key);
    const wait = this.#held.get(key);
    if (!wait) return;
    if (code === 0 && await this.#keys.take(key, value)) {
      for (const held of [...wait.pushes]) {
        this.#release(key, held);
        const { timer, ...push } = held;
        this.#openLater(push);
      }
      return;
    }
    if (this.#held.get(key) !== wait) return;
    wait.timer = setTimeout(() => this.#ask(key), wait.pause);
    wait.pause = Math.min(2 * wait.pause, LONGEST_PAUSE_MS);
  }

  // What waits comes again with the next login.
  #forgetHeld() {
    for (const wait of this.#held.values()) {
      clearTimeout(wait.timer);
      for (const held of wait.pushes) clearTimeout(held.timer);
    }
    this.#held.clear();
  }

  #answer(sequence, code, payload) {
    const waiting = this.#waiting.get(sequence);
    if (!waiting) return;
    this.#waiting.delete(sequence);
    clearTimeout(waiting.timer);
    const kind = code === 0 ? PAYLOADS[waiting.name] : undefined;
    waiting.resolve({ code, value: kind && FIELDS[kind].read(new Reader(payload)) });
  }

  // Every few seconds: says that we are still here, and notices if the server is not.
  #beat() {
    if (!this.#online) return;
    const now = Date.now();
    if (this.#pinged && now - this.#pinged > ANSWER_MS) {
      this.#socket?.close();
    } else if (!this.#pinged && now - this.#lastSent >= this.heartbeat * 1000) {
      this.#pinged = now;
      this.#send(["PING"]);
    }
  }

  #closed(event) {
    const { reconnect = BACK_OFF, retryAfter = 0, reason, message } = this.#ending ?? {};
    const lasted = this.#online ? Date.now() - this.#online : 0;
    this.#failures = lasted >= GOOD_SESSION_MS ? 1 : this.#failures + 1;
    const isQuick = reconnect === AT_ONCE && (lasted > 0 || this.#failures === 1);
    this.#end();
    if (reconnect === NEVER) {
      this.listener.state(reason === 2 ? "replaced" : "stopped", message);
      return;
    }
    const pause = isQuick
      ? retryAfter * (1 + Math.random())
      : retryAfter + 1000 * Math.random() * Math.min(300, 2 ** this.#failures);
    this.listener.state("away", { seconds: Math.ceil(pause / 1000), code: event.code });
    this.#reconnect = setTimeout(() => this.start(), pause);
  }

  #end() {
    this.#timers.forEach(clearInterval);
    this.#forgetHeld();
    this.#socket = null;
    this.#online = this.#pinged = 0;
    for (const sequence of [...this.#waiting.keys()]) this.#answer(sequence, NO_ANSWER);
  }
}
