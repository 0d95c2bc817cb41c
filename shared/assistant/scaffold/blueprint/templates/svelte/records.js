<%- if .TS %>
export interface <% .Type %>Values {
<%- range .Inputs %>
  <% .Key %>: <% $.TypeOf . %><% if eq .Type "number" %> | null<% end %>;
<%- end %>
}

export interface <% .Type %> extends <% .Type %>Values {
  id: string;
}

export type <% .Type %>Errors = Partial<Record<keyof <% .Type %>Values, string>>;
<%- end %>

/**
 * The <% .ManyLower %> are kept in memory: they are gone when the server restarts, and every instance has its own.
 * Put a database behind these functions before you deploy.
 */
const records = new Map<% if .TS %><string, <% .Type %>><% end %>();
<%- if .Has "GET" %>

export function list<% .TypeMany %>()<% if .TS %>: <% .Type %>[]<% end %> {
  return [...records.values()];
}
<%- end %>
<%- if .HasFind %>

export function find<% .Type %>(id<% if .TS %>: string<% end %>)<% if .TS %>: <% .Type %> | undefined<% end %> {
  return records.get(id);
}
<%- end %>
<%- if .HasSave %>

export function save<% .Type %>(id<% if .TS %>: string<% end %>, values<% if .TS %>: <% .Type %>Values<% end %>)<% if .TS %>: <% .Type %><% end %> {
  const record = { id, ...values };
  records.set(id, record);
  return record;
}
<%- end %>
<%- if .Has "DELETE" %>

export function remove<% .Type %>(id<% if .TS %>: string<% end %>)<% if .TS %>: boolean<% end %> {
  return records.delete(id);
}
<%- end %>
<%- if .HasSave %>

/** Takes what a client sent apart: what is not of its field's type counts as missing, what is no field falls away. */
export function read<% .Type %>(input<% if .TS %>: unknown<% end %>)<% if .TS %>: { values: <% .Type %>Values; errors: <% .Type %>Errors }<% end %> {
  const sent<% if .TS %>: Record<string, unknown><% end %> = typeof input === 'object' && input !== null ? { ...input } : {};
  const values<% if .TS %>: <% .Type %>Values<% end %> = {
<%- range $i, $f := .Inputs %><% if $i %>,<% end %>
<%- if eq .Type "boolean" %>
    <% .Key %>: sent.<% .Key %> === true
<%- else if eq .Type "number" %>
    <% .Key %>: typeof sent.<% .Key %> === 'number' ? sent.<% .Key %> : null
<%- else %>
    <% .Key %>: typeof sent.<% .Key %> === 'string' ? sent.<% .Key %>.trim() : ''
<%- end %>
<%- end %>
  };
  const errors<% if .TS %>: <% .Type %>Errors<% end %> = {};
<% .Checks "errors" "null" ";" %>
  return { values, errors };
}
<%- end %>
