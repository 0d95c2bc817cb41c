import { afterEach, expect, test, vi } from 'vitest';
import { <% .ClientImports %> } from <% js .Part.Import %>;

afterEach(() => vi.unstubAllGlobals());

function answer(response<% if .TS %>: Response<% end %>) {
  const fetch = vi.fn(async (_address<% if .TS %>: string<% end %>, _options<% if .TS %>?: RequestInit<% end %>) => response);
  vi.stubGlobal('fetch', fetch);
  return fetch;
}
<%- if .Has "GET" %>

test('lists <% .ManyLower %>', async () => {
  const stored = [<% .Stored 1 %>];
  const fetch = answer(Response.json(stored));

  expect(await list<% .TypeMany %>()).toEqual(stored);
  expect(fetch).toHaveBeenCalledWith(<% js .API %>, expect.anything());
});

test('gets one, whatever its id', async () => {
  const stored = <% .Stored 1 %>;
  const fetch = answer(Response.json(stored));

  expect(await get<% .Type %>('a/b')).toEqual(stored);
  expect(fetch).toHaveBeenCalledWith('<% .API %>/a%2Fb', expect.anything());
});

test('throws what is no success', async () => {
  answer(new Response(null, { status: 404 }));

  await expect(get<% .Type %>('1')).rejects.toMatchObject({ name: '<% .Type %>RequestError', status: 404 });
});
<%- end %>
<%- if .Has "POST" %>

test('creates', async () => {
  const values = <% .Record 1 %>;
  const fetch = answer(Response.json({ id: '1', ...values }, { status: 201 }));

  expect(await create<% .Type %>(values)).toEqual({ id: '1', ...values });
  expect(fetch).toHaveBeenCalledWith(<% js .API %>, expect.objectContaining({ method: 'POST', body: JSON.stringify(values) }));
});
<%- end %>
<%- if .Has "PUT" %>

test('updates', async () => {
  const values = <% .Record 2 %>;
  const fetch = answer(Response.json({ id: '1', ...values }));

  expect(await update<% .Type %>('1', values)).toEqual({ id: '1', ...values });
  expect(fetch).toHaveBeenCalledWith('<% .API %>/1', expect.objectContaining({ method: 'PUT', body: JSON.stringify(values) }));
});
<%- end %>
<%- if .Has "PATCH" %>

test('patches', async () => {
  const fetch = answer(Response.json(<% .Stored 1 %>));

  await patch<% .Type %>('1', {});
  expect(fetch).toHaveBeenCalledWith('<% .API %>/1', expect.objectContaining({ method: 'PATCH', body: '{}' }));
});
<%- end %>
<%- if .Has "DELETE" %>

test('deletes', async () => {
  const fetch = answer(new Response(null, { status: 204 }));

  expect(await delete<% .Type %>('1')).toBeUndefined();
  expect(fetch).toHaveBeenCalledWith('<% .API %>/1', expect.objectContaining({ method: 'DELETE' }));
});
<%- end %>
