/**
 * Keeps <% .ManyLower %> in this browser, under `key` of its storage, and tells whoever subscribed when they change.
 */
export function create<% .TypeMany %>Store(storage = globalThis.localStorage, key = '<% .Class %>') {
  const listeners = new Set();
  let <% .Many %> = read();

  function read() {
    try {
      return JSON.parse(storage.getItem(key)) ?? [];
    } catch {
      return [];
    }
  }

  function change(changed) {
    <% .Many %> = changed;
    storage.setItem(key, JSON.stringify(<% .Many %>));
    for (const listener of listeners) listener(<% .Many %>);
  }

  return {
    all: () => <% .Many %>,
    add(values) {
      const <% .One %> = { ...values, id: crypto.randomUUID() };
      change([...<% .Many %>, <% .One %>]);
      return <% .One %>;
    },
    update(id, values) {
      change(<% .Many %>.map((<% .One %>) => (<% .One %>.id === id ? { ...<% .One %>, ...values, id } : <% .One %>)));
    },
    remove(id) {
      change(<% .Many %>.filter((<% .One %>) => <% .One %>.id !== id));
    },
    /** Calls a listener with all <% .ManyLower %> after each change, until the function that is returned is called. */
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
