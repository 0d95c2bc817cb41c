<%- $t := "" %><% if .TS %><% $t = ": RequestHandler" %><% end %>
import { json } from '@sveltejs/kit';
import { <% .CollectionImports %> } from <% js .Part.Import %>;
<%- if .TS %>
import type { RequestHandler } from './$types';
<%- end %>
<%- if .Has "POST" %>

const malformed = () => json({ error: { message: 'The body must be a JSON object.' } }, { status: 400 });
<%- end %>
<%- if .Has "GET" %>
<% if not .TS %>
/** @type {import('./$types').RequestHandler} */
<%- end %>
export const GET<% $t %> = () => json(list<% .TypeMany %>());
<%- end %>
<%- if .Has "POST" %>
<% if not .TS %>
/** @type {import('./$types').RequestHandler} */
<%- end %>
export const POST<% $t %> = async ({ request, url }) => {
  const input = await request.json().catch(() => null);
  if (input === null) return malformed();
  const { values, errors } = read<% .Type %>(input);
  if (Object.keys(errors).length > 0) {
    return json({ error: { message: 'The <% .Lower %> is not valid.', fields: errors } }, { status: 422 });
  }
  const <% .One %> = save<% .Type %>(crypto.randomUUID(), values);
  return json(<% .One %>, { status: 201, headers: { location: `${url.pathname}/${<% .One %>.id}` } });
};
<%- end %>
