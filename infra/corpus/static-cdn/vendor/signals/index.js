// Small signals: a value that remembers who reads it.
let reader = null;

export function signal(value) {
  const readers = new Set();
  return {
    get value() {
      if (reader) readers.add(reader);
      return value;
    },
    set value(next) {
      if (Object.is(value, next)) return;
      value = next;
      for (const run of [...readers]) run();
    },
    peek: () => value,
  };
}

export function effect(body) {
  const run = () => {
    const before = reader;
    reader = run;
    try {
      body();
    } finally {
      reader = before;
    }
  };
  run();
}

export function computed(body) {
  const result = signal(undefined);
  effect(() => (result.value = body()));
  return { get value() { return result.value; } };
}
