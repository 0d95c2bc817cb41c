// @vitest-environment jsdom
<%- if eq .Shape "toggle" %>
import { expect, test } from 'vitest';
import { <% .Fn %> } from <% js .Part.Import %>;

test('switches on and off', () => {
  const state = <% .Fn %>();

  expect(state.isOn).toBe(false);
  state.toggle();
  expect(state.isOn).toBe(true);
  state.isOn = false;
  expect(state.isOn).toBe(false);
});
<%- else if eq .Shape "counter" %>
import { expect, test } from 'vitest';
import { <% .Fn %> } from <% js .Part.Import %>;

test('counts up, down and back', () => {
  const counter = <% .Fn %>(5, 2);

  counter.increment();
  expect(counter.count).toBe(7);
  counter.decrement();
  counter.decrement();
  expect(counter.count).toBe(3);
  counter.reset();
  expect(counter.count).toBe(5);
});
<%- else if eq .Shape "debounce" %>
import { flushSync } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { <% .Fn %> } from <% js .Part.Import %>;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('follows once the source has come to rest', () => {
  let source = $state('a');
  const stop = $effect.root(() => {
    const settled = <% .Fn %>(() => source, 100);
    flushSync();

    source = 'b';
    flushSync();
    vi.advanceTimersByTime(99);
    expect(settled.current).toBe('a');
    vi.advanceTimersByTime(1);
    expect(settled.current).toBe('b');
  });
  stop();
});
<%- else if eq .Shape "storage" %>
import { beforeEach, expect, test } from 'vitest';
import { <% .Fn %> } from <% js .Part.Import %>;

beforeEach(() => localStorage.clear());

test('keeps what it is given', () => {
  const theme = <% .Fn %>('theme', 'light');

  expect(theme.current).toBe('light');
  theme.current = 'dark';
  expect(<% .Fn %>('theme', 'light').current).toBe('dark');
});

test('starts anew from what can not be read', () => {
  localStorage.setItem('theme', '{');

  expect(<% .Fn %>('theme', 'light').current).toBe('light');
});
<%- else if eq .Shape "media" %>
import { afterEach, expect, test, vi } from 'vitest';
import { <% .Fn %> } from <% js .Part.Import %>;

afterEach(() => vi.unstubAllGlobals());

test('tells whether the query matches', () => {
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: true }));

  expect(<% .Fn %>('width >= 40rem').current).toBe(true);
});
<%- else %>
import { afterEach, expect, test, vi } from 'vitest';
import { <% .Fn %> } from <% js .Part.Import %>;

afterEach(() => vi.unstubAllGlobals());

test('loads the <% .ManyLower %>', async () => {
  const loaded = [<% .Stored 1 %>];
  vi.stubGlobal('fetch', async () => Response.json(loaded));
  const state = <% .Fn %>();

  const loading = state.load();
  expect(state.isLoading).toBe(true);
  await loading;
  expect(state.isLoading).toBe(false);
  expect(state.<% .Many %>).toEqual(loaded);
  expect(state.failure).toBeNull();
});

test('keeps what went wrong, and can try again', async () => {
  const answers = [new Response(null, { status: 500 }), Response.json([])];
  vi.stubGlobal('fetch', async () => answers.shift());
  const state = <% .Fn %>();

  await state.load();
  expect(state.failure?.message).toContain('500');
  await state.load();
  expect(state.failure).toBeNull();
});
<%- end %>
