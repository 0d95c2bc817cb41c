import { afterEach, expect, test, vi } from 'vitest';
import { <% .TypeMany %>Store } from <% js .Part.Import %>;

const stored = <% .Stored 1 %>;

afterEach(() => vi.unstubAllGlobals());

test('loads, adds and removes', async () => {
  const answers = [Response.json([]), Response.json(stored, { status: 201 }), new Response(null, { status: 204 })];
  vi.stubGlobal('fetch', async () => answers.shift());
  const store = new <% .TypeMany %>Store();

  await store.load();
  expect(store.count).toBe(0);
  await store.add(<% .Record 1 %>);
  expect(store.<% .Many %>).toEqual([stored]);
  await store.remove(stored.id);
  expect(store.<% .Many %>).toEqual([]);
});

test('keeps what went wrong while loading', async () => {
  vi.stubGlobal('fetch', async () => new Response(null, { status: 503 }));
  const store = new <% .TypeMany %>Store();

  await store.load();

  expect(store.failure?.message).toContain('503');
  expect(store.isLoading).toBe(false);
});
