// @vitest-environment jsdom
<%- if eq .Shape "toggle" %>
import { expect, test } from 'vitest'
import { <% .Fn %> } from <% js .Part.Import %>

test('switches on and off', () => {
  const { isOn, toggle, set } = <% .Fn %>()

  expect(isOn.value).toBe(false)
  toggle()
  expect(isOn.value).toBe(true)
  set(false)
  expect(isOn.value).toBe(false)
})
<%- else if eq .Shape "counter" %>
import { expect, test } from 'vitest'
import { <% .Fn %> } from <% js .Part.Import %>

test('counts up, down and back', () => {
  const { count, increment, decrement, reset } = <% .Fn %>(5, 2)

  increment()
  expect(count.value).toBe(7)
  decrement()
  decrement()
  expect(count.value).toBe(3)
  reset()
  expect(count.value).toBe(5)
})
<%- else if eq .Shape "debounce" %>
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { effectScope, nextTick, ref } from 'vue'
import { <% .Fn %> } from <% js .Part.Import %>

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('follows once the source has come to rest', async () => {
  const source = ref('a')
  const scope = effectScope()
  const settled = scope.run(() => <% .Fn %>(source, 100))

  source.value = 'b'
  await nextTick()
  vi.advanceTimersByTime(99)
  expect(settled<% if .TS %>?<% end %>.value).toBe('a')
  vi.advanceTimersByTime(1)
  expect(settled<% if .TS %>?<% end %>.value).toBe('b')
  scope.stop()
})
<%- else if eq .Shape "storage" %>
import { beforeEach, expect, test } from 'vitest'
import { nextTick } from 'vue'
import { <% .Fn %> } from <% js .Part.Import %>

beforeEach(() => localStorage.clear())

test('keeps what it is given', async () => {
  const theme = <% .Fn %>('theme', 'light')

  expect(theme.value).toBe('light')
  theme.value = 'dark'
  await nextTick()
  expect(<% .Fn %>('theme', 'light').value).toBe('dark')
})

test('starts anew from what can not be read', () => {
  localStorage.setItem('theme', '{')

  expect(<% .Fn %>('theme', 'light').value).toBe('light')
})
<%- else if eq .Shape "media" %>
import { mount } from '@vue/test-utils'
import { afterEach, expect, test, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { <% .Fn %> } from <% js .Part.Import %>

afterEach(() => vi.unstubAllGlobals())

test('tells whether the query matches', async () => {
  const list = Object.assign(new EventTarget(), { matches: true })
  vi.stubGlobal('matchMedia', () => list)
  const wrapper = mount(
    defineComponent(() => {
      const matches = <% .Fn %>('(width >= 40rem)')
      return () => h('p', matches.value ? 'wide' : 'narrow')
    }),
  )

  await wrapper.vm.$nextTick()
  expect(wrapper.text()).toBe('wide')
  list.matches = false
  list.dispatchEvent(new Event('change'))
  await wrapper.vm.$nextTick()
  expect(wrapper.text()).toBe('narrow')
})
<%- else %>
import { afterEach, expect, test, vi } from 'vitest'
import { effectScope } from 'vue'
import { <% .Fn %> } from <% js .Part.Import %>

const scope = effectScope()

afterEach(() => vi.unstubAllGlobals())

function start() {
  return scope.run(() => <% .Fn %>())<% if .TS %>!<% end %>
}

test('loads the <% .ManyLower %>', async () => {
  const loaded = [<% .Stored 1 %>]
  vi.stubGlobal('fetch', async () => Response.json(loaded))
  const { <% .Many %>, isLoading, failure } = start()

  expect(isLoading.value).toBe(true)
  await vi.waitFor(() => expect(isLoading.value).toBe(false))
  expect(<% .Many %>.value).toEqual(loaded)
  expect(failure.value).toBeNull()
})

test('keeps what went wrong, and can try again', async () => {
  vi.stubGlobal('fetch', async () => new Response(null, { status: 500 }))
  const { failure, isLoading, load } = start()
  await vi.waitFor(() => expect(isLoading.value).toBe(false))
  expect(failure.value?.message).toContain('500')

  vi.stubGlobal('fetch', async () => Response.json([]))
  await load()
  expect(failure.value).toBeNull()
})
<%- end %>
