import assert from 'node:assert/strict';
<%- if or (eq .Tested "page.html") (eq .Tested "existing.html") %>
import { readFile } from 'node:fs/promises';
<%- end %>
<%- if eq .Shape "debounce" %>
import { mock, test } from 'node:test';
<%- else %>
import { test } from 'node:test';
<%- end %>
<%- if eq .Tested "helper.js" %>
<%- if .Shape %>
import { <% .Fn %> } from <% js .Part.Import %>;
<%- else %>
import { empty<% .Type %>, validate<% .Type %> } from <% js .Part.Import %>;
<%- end %>
<%- else if eq .Tested "form.js" %>
import { read, validate } from <% js .Part.Import %>;
<%- else if eq .Tested "list.js" %>
import { cells, load } from <% js .Part.Import %>;
<%- else if eq .Tested "fixture-client.js" %>
import { get<% .Type %>, list<% .TypeMany %> } from <% js .Part.Import %>;
<%- else if eq .Tested "store.js" %>
import { create<% .TypeMany %>Store } from <% js .Part.Import %>;
<%- else if eq .Tested "client.js" %>
import { <% .ClientImports %> } from <% js .Part.Import %>;
<%- else if eq .Tested "existing.js" %>
import * as subject from <% js .Part.Import %>;
<%- end %>
<%- if eq .Tested "component.js" %>

// Node has no elements: these two are what the module needs to be imported.
const defined = new Map();
globalThis.HTMLElement = class {};
globalThis.customElements = { define: (name, element) => defined.set(name, element) };
const component = await import(<% js .Part.Import %>);

test('defines its element', () => {
  assert.equal(defined.get('<% .Class %>'), component.<% .Name %>);
});
<%- if .Inputs %>

test('shows its attributes', () => {
  const attributes = {
<%- range .Inputs %>
    '<% $.Attribute . %>': <% if eq .Type "boolean" %>''<% else %><% js (.Sample 1) %><% end %>,
<%- end %>
  };

  const shown = component.lines((name) => attributes[name] ?? null);

  assert.deepEqual(
    shown.map(({ text }) => text),
    [<% range $i, $f := .Inputs %><% if $i %>, <% end %><% $.Shows $f 1 %><% end %>],
  );
});
<%- else if eq .Shape "navigation" %>

test('has links with a label each', () => {
  assert.ok(component.links.length > 0);
  for (const link of component.links) assert.ok(link.label && link.href);
});
<%- else %>

test('has a heading and a place for content', () => {
  assert.match(component.markup, /<h2><slot name="title">/);
  assert.match(component.markup, /<slot><\/slot>/);
});
<%- end %>
<%- else if or (eq .Tested "page.html") (eq .Tested "existing.html") %>

const html = await readFile(new URL(<% js .Part.Import %>, import.meta.url), 'utf8');

test('is a complete document with a language and a title', () => {
  assert.match(html, /^<!doctype html>/i);
  assert.match(html, /<html[^>]* lang="[a-z-]+"/i);
  assert.match(html, /<title>[^<]+<\/title>/i);
});

test('has one main heading', () => {
  assert.equal(html.match(/<h1[\s>]/gi)?.length, 1);
});

test('has no id twice and a field for every label', () => {
  const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const [, id] of html.matchAll(/<label[^>]*\sfor="([^"]+)"/g)) assert.ok(ids.includes(id), id);
});
<%- else if eq .Tested "form.js" %>

const complete = new FormData();
<%- range .Inputs %>
complete.set('<% .Key %>', <% if eq .Type "boolean" %>'on'<% else %><% js (.Sample 1) %><% end %>);
<%- end %>

test('reads what was typed and finds nothing wrong with it', () => {
  const values = read(complete);

  assert.deepEqual(values, <% .Record 1 %>);
  assert.deepEqual(validate(values), {});
});

test('names what is missing', () => {
  assert.deepEqual(Object.keys(validate(read(new FormData()))), [<% .RequiredKeys %>]);
});
<%- else if eq .Tested "list.js" %>

const stored = [<% .Stored 1 %>];

test('loads an array', async (t) => {
  t.mock.method(globalThis, 'fetch', async () => Response.json(stored));

  assert.deepEqual(await load('data.json'), stored);
});

test('throws what is no success', async (t) => {
  t.mock.method(globalThis, 'fetch', async () => new Response(null, { status: 404 }));

  await assert.rejects(load('data.json'), /404/);
});

test('shows every field', () => {
  assert.deepEqual(
    cells(stored[0]).map(({ text }) => text),
    [<% range $i, $f := .Inputs %><% if $i %>, <% end %><% $.Shows $f 1 %><% end %>],
  );
});
<%- else if eq .Tested "fixture-client.js" %>

const stored = [<% .Stored 1 %>, <% .Stored 2 %>];

test('lists and finds <% .ManyLower %>', async (t) => {
  t.mock.method(globalThis, 'fetch', async () => Response.json(stored));

  assert.deepEqual(await list<% .TypeMany %>(), stored);
  assert.deepEqual(await get<% .Type %>('2'), stored[1]);
  assert.equal(await get<% .Type %>('3'), undefined);
});

test('throws what is no success', async (t) => {
  t.mock.method(globalThis, 'fetch', async () => new Response(null, { status: 404 }));

  await assert.rejects(list<% .TypeMany %>(), /404/);
});
<%- else if eq .Tested "store.js" %>

function fakeStorage() {
  const items = new Map();
  return { getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value) };
}

test('adds, updates, removes and tells', () => {
  const store = create<% .TypeMany %>Store(fakeStorage());
  const heard = [];
  const stop = store.subscribe((all) => heard.push(all.length));

  const added = store.add(<% .Record 1 %>);
  store.update(added.id, <% .Record 2 %>);
  assert.deepEqual(store.all(), [{ ...<% .Record 2 %>, id: added.id }]);
  store.remove(added.id);
  stop();
  store.add(<% .Record 1 %>);

  assert.deepEqual(heard, [1, 1, 0]);
});

test('finds what was kept before', () => {
  const storage = fakeStorage();
  const added = create<% .TypeMany %>Store(storage).add(<% .Record 1 %>);

  assert.deepEqual(create<% .TypeMany %>Store(storage).all(), [added]);
});
<%- else if eq .Tested "client.js" %>

function answer(t, response) {
  return t.mock.method(globalThis, 'fetch', async () => response).mock;
}
<%- if .Has "GET" %>

test('lists and gets', async (t) => {
  answer(t, Response.json([<% .Stored 1 %>]));
  assert.deepEqual(await list<% .TypeMany %>(), [<% .Stored 1 %>]);

  const fetched = answer(t, Response.json(<% .Stored 1 %>));
  assert.deepEqual(await get<% .Type %>('a/b'), <% .Stored 1 %>);
  assert.equal(fetched.calls[0].arguments[0], '<% .API %>/a%2Fb');
});

test('throws what is no success', async (t) => {
  answer(t, new Response(null, { status: 404 }));

  await assert.rejects(get<% .Type %>('1'), { name: '<% .Type %>RequestError', status: 404 });
});
<%- end %>

test('sends what changes', async (t) => {
  for (const [call, method] of [
<%- if .Has "POST" %>
    [() => create<% .Type %>({}), 'POST'],
<%- end %>
<%- if .Has "PUT" %>
    [() => update<% .Type %>('1', {}), 'PUT'],
<%- end %>
<%- if .Has "PATCH" %>
    [() => patch<% .Type %>('1', {}), 'PATCH'],
<%- end %>
<%- if .Has "DELETE" %>
    [() => delete<% .Type %>('1'), 'DELETE'],
<%- end %>
  ]) {
    const fetched = answer(t, Response.json({}));
    await call();
    assert.equal(fetched.calls[0].arguments[1].method, method);
  }
});
<%- else if eq .Tested "existing.js" %>

test('exports something to use', () => {
  assert.notEqual(Object.keys(subject).length, 0);
});
<%- else if eq .Shape "debounce" %>

test('calls once, with the latest values', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const callback = mock.fn();
  const debounced = <% .Fn %>(callback, 100);

  debounced(1);
  debounced(2);
  t.mock.timers.tick(99);
  assert.equal(callback.mock.callCount(), 0);
  t.mock.timers.tick(1);
  assert.deepEqual(callback.mock.calls[0].arguments, [2]);
});
<%- else if .Shape %>

for (const [expected, ...values] of [
<%- range .Cases %>
  [<% . %>],
<%- end %>
]) {
  test(`answers ${JSON.stringify(expected)}`, () => {
    assert.equal(<% .Fn %>(...values), expected);
  });
}
<%- else %>

test('accepts complete values', () => {
  assert.deepEqual(validate<% .Type %>(<% .Record 1 %>), {});
});

test('names what is missing', () => {
  assert.deepEqual(Object.keys(validate<% .Type %>(empty<% .Type %>())), [<% .RequiredKeys %>]);
});
<%- end %>
