<%- if eq .Shape "toggle" %>
/** A boolean that can be switched on, off and over. */
export function <% .Fn %>(initial = false) {
  let isOn = $state(initial);

  return {
    get isOn() {
      return isOn;
    },
    set isOn(value) {
      isOn = value;
    },
    toggle() {
      isOn = !isOn;
    }
  };
}
<%- else if eq .Shape "counter" %>
/** A number that goes up and down in steps. */
export function <% .Fn %>(initial = 0, step = 1) {
  let count = $state(initial);

  return {
    get count() {
      return count;
    },
    increment() {
      count += step;
    },
    decrement() {
      count -= step;
    },
    reset() {
      count = initial;
    }
  };
}
<%- else if eq .Shape "debounce" %>
/** Follows what `source` answers once it has not changed for `delay` milliseconds. Call it while a component is set up. */
export function <% .Fn %><% if .TS %><T><% end %>(source<% if .TS %>: () => T<% end %>, delay = 300) {
  let current = $state.raw(source());

  $effect(() => {
    const value = source();
    const timer = setTimeout(() => {
      current = value;
    }, delay);
    return () => clearTimeout(timer);
  });

  return {
    get current() {
      return current;
    }
  };
}
<%- else if eq .Shape "storage" %>
/** A value that is kept in localStorage under `key`. What can't be read or written there is left alone. */
export function <% .Fn %><% if .TS %><T><% end %>(key<% if .TS %>: string<% end %>, initial<% if .TS %>: T<% end %>) {
  let current<% if .TS %>: T<% end %> = $state.raw(read(key, initial));

  return {
    get current() {
      return current;
    },
    set current(value) {
      current = value;
      try {
        localStorage.setItem(key, JSON.stringify(value));
      } catch {
        // Storage can be full or forbidden: the value then lives as long as the page.
      }
    }
  };
}

function read<% if .TS %><T><% end %>(key<% if .TS %>: string<% end %>, initial<% if .TS %>: T<% end %>)<% if .TS %>: T<% end %> {
  try {
    const stored = localStorage.getItem(key);
    return stored === null ? initial : JSON.parse(stored);
  } catch {
    return initial;
  }
}
<%- else if eq .Shape "media" %>
import { MediaQuery } from 'svelte/reactivity';

/** Whether a media query matches, such as 'width >= 40rem': read `current`. */
export function <% .Fn %>(query<% if .TS %>: string<% end %>, fallback = false) {
  return new MediaQuery(query, fallback);
}
<%- else %>
<%- if .TS %>
export interface <% .Type %> {
  id: string;
<%- range .Inputs %>
  <% .Key %><% if not .Required %>?<% end %>: <% $.TypeOf . %>;
<%- end %>
}
<%- end %>

/** Loads <% .ManyLower %>: call `load` once the component is in the browser, and again to load anew. */
export function <% .Fn %>(source = <% js .API %>) {
  let <% .Many %><% if .TS %>: <% .Type %>[]<% end %> = $state.raw([]);
  let isLoading = $state(false);
  let failure<% if .TS %>: Error | null<% end %> = $state.raw(null);
  let pending<% if .TS %>: AbortController | undefined<% end %>;

  async function load() {
    pending?.abort();
    const { signal } = (pending = new AbortController());
    isLoading = true;
    failure = null;
    try {
      const response = await fetch(source, { signal });
      if (!response.ok) throw new Error(`${source} answered ${response.status}`);
      <% .Many %> = await response.json();
    } catch (cause) {
      if (!signal.aborted) failure = cause<% if .TS %> as Error<% end %>;
    } finally {
      if (!signal.aborted) isLoading = false;
    }
  }

  return {
    get <% .Many %>() {
      return <% .Many %>;
    },
    get isLoading() {
      return isLoading;
    },
    get failure() {
      return failure;
    },
    load
  };
}
<%- end %>
