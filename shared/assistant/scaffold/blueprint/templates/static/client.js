const base = <% js .API %>;
<%- if .TS %>

export interface <% .Type %> {
  id: string;
<%- range .Inputs %>
  <% .Key %><% if not .Required %>?<% end %>: <% $.TypeOf . %>;
<%- end %>
}

export type <% .Type %>Values = Omit<<% .Type %>, 'id'>;
<%- end %>

/** An answer of the server that is not a success. */
export class <% .Type %>RequestError extends Error {
<%- if .TS %>
  readonly status: number;

  constructor(status: number, message: string) {
<%- else %>
  constructor(status, message) {
<%- end %>
    super(message);
    this.name = '<% .Type %>RequestError';
    this.status = status;
  }
}
<%- if .Has "GET" %>

export function list<% .TypeMany %>(signal<% if .TS %>?: AbortSignal<% end %>)<% if .TS %>: Promise<<% .Type %>[]><% end %> {
  return send('', { signal });
}

export function get<% .Type %>(id<% if .TS %>: string<% end %>, signal<% if .TS %>?: AbortSignal<% end %>)<% if .TS %>: Promise<<% .Type %>><% end %> {
  return send(pathOf(id), { signal });
}
<%- end %>
<%- if .Has "POST" %>

export function create<% .Type %>(values<% if .TS %>: <% .Type %>Values<% end %>)<% if .TS %>: Promise<<% .Type %>><% end %> {
  return send('', withBody('POST', values));
}
<%- end %>
<%- if .Has "PUT" %>

export function update<% .Type %>(id<% if .TS %>: string<% end %>, values<% if .TS %>: <% .Type %>Values<% end %>)<% if .TS %>: Promise<<% .Type %>><% end %> {
  return send(pathOf(id), withBody('PUT', values));
}
<%- end %>
<%- if .Has "PATCH" %>

export function patch<% .Type %>(id<% if .TS %>: string<% end %>, values<% if .TS %>: Partial<<% .Type %>Values><% end %>)<% if .TS %>: Promise<<% .Type %>><% end %> {
  return send(pathOf(id), withBody('PATCH', values));
}
<%- end %>
<%- if .Has "DELETE" %>

export function delete<% .Type %>(id<% if .TS %>: string<% end %>)<% if .TS %>: Promise<void><% end %> {
  return send(pathOf(id), { method: 'DELETE' });
}
<%- end %>
<%- if .HasOne %>

function pathOf(id<% if .TS %>: string<% end %>) {
  return `/${encodeURIComponent(id)}`;
}
<%- end %>
<%- if .HasBody %>

function withBody(method<% if .TS %>: string<% end %>, values<% if .TS %>: unknown<% end %>) {
  return { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(values) };
}
<%- end %>

async function send(path<% if .TS %>: string<% end %>, options<% if .TS %>: RequestInit<% end %>) {
  const response = await fetch(base + path, options);
  if (!response.ok) throw new <% .Type %>RequestError(response.status, `${base + path} answered ${response.status}`);
  return response.status === 204 ? undefined : response.json();
}
