// What a page and its service worker share, in IndexedDB, since a worker has no localStorage: who the device is, its keys, the pushes
// that one of the two has shown, and receipts that the server does not have yet.

// Pushes that are known to have been shown, as many as a device remembers, and receipts that wait.
const MOST_PUSHES = 2048, MOST_RECEIPTS = 256;
const TABLES = ["facts", "pushes", "receipts"];

// One for each scope of a service worker, which is how both know its name.
export class Store {
  #database = null;

  constructor(scope) { this.name = `borealis ${scope}`; }

  #open() {
    this.#database ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(this.name, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore("facts");
        request.result.createObjectStore("pushes", { keyPath: "id" });
        request.result.createObjectStore("receipts", { keyPath: ["kind", "id"] });
      };
      request.onsuccess = () => {
        // The browser closes it, for example when somebody deletes the site's data; the next call opens it anew.
        request.result.onclose = () => { this.#database = null; };
        request.result.onversionchange = () => {
          request.result.close();
          this.#database = null;
        };
        resolve(request.result);
      };
      request.onerror = () => reject(request.error);
    });
    // The next try may find room.
    this.#database.catch(() => { this.#database = null; });
    return this.#database;
  }

  // Runs a transaction on one table; `work` starts its requests, and `give` says what comes of them.
  async #run(table, mode, work) {
    const database = await this.#open();
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(table, mode);
      let result;
      work(transaction.objectStore(table), (value) => { result = value; });
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(transaction.error);
    });
  }

  // MARK: Facts

  fact(name) {
    return this.#run("facts", "readonly", (facts, give) => {
      const request = facts.get(name);
      request.onsuccess = () => give(request.result);
    });
  }

  setFact(name, value) { return this.#run("facts", "readwrite", (facts) => facts.put(value, name)); }

  // Forgets everything.
  async clear() {
    for (const table of TABLES) await this.#run(table, "readwrite", (all) => all.clear());
  }

  // MARK: Pushes

  // Notes that a push is shown, by whom asks first: transactions that write go one after the other, in page and worker alike.
  // False if it was noted before. `kept` is what pages that are opened later need to show it.
  claim(id, kept = {}) {
    return this.#run("pushes", "readwrite", (pushes, give) => {
      const known = pushes.getKey(id);
      known.onsuccess = () => {
        give(known.result === undefined);
        if (known.result !== undefined) return;
        pushes.put({ ...kept, id });
        Store.#forgetOldest(pushes, MOST_PUSHES);
      };
    });
  }

  // Changes what is kept of a push, if it is known; `change` gives it anew.
  amend(id, change) {
    return this.#run("pushes", "readwrite", (pushes) => {
      const known = pushes.get(id);
      known.onsuccess = () => { if (known.result) pushes.put({ ...change(known.result), id }); };
    });
  }

  // Takes what no page has taken yet: the pushes that the worker has shown, and without content those that were tapped later. They
  // stay known.
  takeShown() {
    return this.#run("pushes", "readwrite", (pushes, give) => {
      const all = pushes.getAll();
      all.onsuccess = () => {
        const shown = all.result.filter((push) => push.content || push.tapped);
        for (const { id } of shown) pushes.put({ id });
        give(shown);
      };
    });
  }

  static #forgetOldest(table, most) {
    const count = table.count();
    count.onsuccess = () => {
      let left = count.result - most;
      if (left <= 0) return;
      const oldest = table.openCursor();
      oldest.onsuccess = () => {
        if (!oldest.result || left-- <= 0) return;
        oldest.result.delete();
        oldest.result.continue();
      };
    };
  }

  // MARK: Receipts

  // Reports that a push was "shown" or "tapped", with all that could not be reported before.
  async report(kind, id) {
    await this.#run("receipts", "readwrite", (receipts) => {
      receipts.put({ kind, id });
      Store.#forgetOldest(receipts, MOST_RECEIPTS);
    });
    await this.reportAll();
  }

  // Reports what waits. What the server refuses is over; without its answer it is reported the next time.
  async reportAll() {
    const identity = await this.fact("identity");
    const waiting = await this.#run("receipts", "readonly", (receipts, give) => {
      const all = receipts.getAll();
      all.onsuccess = () => give(all.result);
    });
    if (!identity || waiting.length === 0) return;
    const ids = (kind) => waiting.filter((one) => one.kind === kind).map(({ id }) => String(id));
    const answer = await call(identity, "receipts", { shown: ids("shown"), tapped: ids("tapped") });
    if (!answer || answer.status === 429 || answer.status >= 500) return;
    await this.#run("receipts", "readwrite", (receipts) => waiting.forEach(({ kind, id }) => receipts.delete([kind, id])));
  }
}

// Calls the server as the device; gives the answer, or null if there is none. The body is sent as plain text, so that a browser
// need not ask another server first whether it takes JSON (CORS).
export async function call({ server, appKey, registrationID, secret }, name, fields) {
  const body = JSON.stringify({ app_key: appKey, registration_id: registrationID, secret, ...fields });
  try {
    return await fetch(`${server}/v1/${name}`, { method: "POST", body, credentials: "omit" });
  } catch {
    return null;
  }
}
