<%- if eq .Shape "toggle" %>
import { ref } from 'vue'

/** A boolean that can be switched on, off and over. */
export function <% .Fn %>(initial = false) {
  const isOn = ref(initial)

  function toggle() {
    isOn.value = !isOn.value
  }

  function set(value<% if .TS %>: boolean<% end %>) {
    isOn.value = value
  }

  return { isOn, toggle, set }
}
<%- else if eq .Shape "counter" %>
import { ref } from 'vue'

/** A number that goes up and down in steps. */
export function <% .Fn %>(initial = 0, step = 1) {
  const count = ref(initial)

  function increment() {
    count.value += step
  }

  function decrement() {
    count.value -= step
  }

  function reset() {
    count.value = initial
  }

  return { count, increment, decrement, reset }
}
<%- else if eq .Shape "debounce" %>
import { onScopeDispose, readonly, ref, toValue, watch<% if .TS %>, type MaybeRefOrGetter, type Ref<% end %> } from 'vue'

/** Follows a ref or getter once it has not changed for `delay` milliseconds. */
export function <% .Fn %><% if .TS %><T><% end %>(source<% if .TS %>: MaybeRefOrGetter<T><% end %>, delay = 300) {
  const settled = ref(toValue(source))<% if .TS %> as Ref<T><% end %>
  let timer<% if .TS %>: ReturnType<typeof setTimeout> | undefined<% end %>

  watch(
    () => toValue(source),
    (value) => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        settled.value = value
      }, delay)
    },
  )
  onScopeDispose(() => clearTimeout(timer))

  return readonly(settled)
}
<%- else if eq .Shape "storage" %>
import { ref, watch<% if .TS %>, type Ref<% end %> } from 'vue'

/** A ref that is kept in localStorage under `key`. What can't be read or written there is left alone. */
export function <% .Fn %><% if .TS %><T><% end %>(key<% if .TS %>: string<% end %>, initial<% if .TS %>: T<% end %>) {
  const value = ref(read(key, initial))<% if .TS %> as Ref<T><% end %>

  watch(
    value,
    (changed) => {
      try {
        localStorage.setItem(key, JSON.stringify(changed))
      } catch {
        // Storage can be full or forbidden: the value then lives as long as the page.
      }
    },
    { deep: true },
  )

  return value
}

function read<% if .TS %><T><% end %>(key<% if .TS %>: string<% end %>, initial<% if .TS %>: T<% end %>)<% if .TS %>: T<% end %> {
  try {
    const stored = localStorage.getItem(key)
    return stored === null ? initial : JSON.parse(stored)
  } catch {
    return initial
  }
}
<%- else if eq .Shape "media" %>
import { onMounted, onUnmounted, readonly, ref } from 'vue'

/** Whether a media query matches, such as '(width >= 40rem)'. False until the component is mounted. */
export function <% .Fn %>(query<% if .TS %>: string<% end %>) {
  const matches = ref(false)
  let list<% if .TS %>: MediaQueryList | undefined<% end %>

  function update() {
    matches.value = list?.matches ?? false
  }

  onMounted(() => {
    list = window.matchMedia(query)
    list.addEventListener('change', update)
    update()
  })
  onUnmounted(() => list?.removeEventListener('change', update))

  return readonly(matches)
}
<%- else %>
import { onScopeDispose, ref, toValue, watchEffect<% if .TS %>, type MaybeRefOrGetter<% end %> } from 'vue'

<%- if .TS %>

export interface <% .Type %> {
  id: string
<%- range .Inputs %>
  <% .Key %><% if not .Required %>?<% end %>: <% $.TypeOf . %>
<%- end %>
}
<%- end %>

/** Loads <% .ManyLower %> and loads them again when the address changes. */
export function <% .Fn %>(source<% if .TS %>: MaybeRefOrGetter<string><% end %> = <% js .API %>) {
  const <% .Many %> = ref<% if .TS %><<% .Type %>[]><% end %>([])
  const isLoading = ref(false)
  const failure = ref<% if .TS %><Error | null><% end %>(null)
  let pending<% if .TS %>: AbortController | undefined<% end %>

  async function load() {
    const address = toValue(source)
    pending?.abort()
    const { signal } = (pending = new AbortController())
    isLoading.value = true
    failure.value = null
    try {
      const response = await fetch(address, { signal })
      if (!response.ok) throw new Error(`${address} answered ${response.status}`)
      <% .Many %>.value = await response.json()
    } catch (cause) {
      if (!signal.aborted) failure.value = cause<% if .TS %> as Error<% end %>
    } finally {
      if (!signal.aborted) isLoading.value = false
    }
  }

  watchEffect(load)
  onScopeDispose(() => pending?.abort())

  return { <% .Many %>, isLoading, failure, load }
}
<%- end %>
