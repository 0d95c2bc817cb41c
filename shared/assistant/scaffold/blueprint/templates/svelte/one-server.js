<%- $t := "" %><% if .TS %><% $t = ": RequestHandler" %><% end %>
import { json } from '@sveltejs/kit';
import { <% .OneImports %> } from <% js .Part.Import %>;
<%- if .TS %>
import type { RequestHandler } from './$types';
<%- end %>

const notFound = () => json({ error: { message: 'There is no such <% .Lower %>.' } }, { status: 404 });
<%- if .Writes %>
const malformed = () => json({ error: { message: 'The body must be a JSON object.' } }, { status: 400 });
<%- end %>
<%- if .Has "GET" %>
<% if not .TS %>
/** @type {import('./$types').RequestHandler} */
<%- end %>
export const GET<% $t %> = ({ params }) => {
  const <% .One %> = find<% .Type %>(params.id);
  return <% .One %> ? json(<% .One %>) : notFound();
};
<%- end %>
<%- range .Writes %>
<% if not $.TS %>
/** @type {import('./$types').RequestHandler} */
<%- end %>
export const <% . %><% $t %> = async ({ params, request }) => {
<%- if eq . "PATCH" %>
  const <% $.One %> = find<% $.Type %>(params.id);
  if (!<% $.One %>) return notFound();
  const changes = await request.json().catch(() => null);
  if (changes === null) return malformed();
  const { values, errors } = read<% $.Type %>({ ...<% $.One %>, ...changes });
<%- else %>
  if (!find<% $.Type %>(params.id)) return notFound();
  const input = await request.json().catch(() => null);
  if (input === null) return malformed();
  const { values, errors } = read<% $.Type %>(input);
<%- end %>
  if (Object.keys(errors).length > 0) {
    return json({ error: { message: 'The <% $.Lower %> is not valid.', fields: errors } }, { status: 422 });
  }
  return json(save<% $.Type %>(params.id, values));
};
<%- end %>
<%- if .Has "DELETE" %>
<% if not .TS %>
/** @type {import('./$types').RequestHandler} */
<%- end %>
export const DELETE<% $t %> = ({ params }) => (remove<% .Type %>(params.id) ? new Response(null, { status: 204 }) : notFound());
<%- end %>
