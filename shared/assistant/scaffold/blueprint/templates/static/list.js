/** The <% .ManyLower %> at an address, which answers with an array of JSON. */
export async function load(source) {
  const response = await fetch(source);
  if (!response.ok) throw new Error(`${source} answered ${response.status}`);
  return response.json();
}

/** What is shown of one of the <% .ManyLower %>: a label and a text each, and an address where the text is a link. */
export function cells(<% .One %>) {
  return [
<%- range .Inputs %>
<%- $value := printf "%s.%s" $.One .Key %>
<%- if eq .Type "email" %>
    { label: <% js .Label %>, text: <% $value %> ?? '', address: <% $value %> && `mailto:${<% $value %>}` },
<%- else if eq .Type "tel" %>
    { label: <% js .Label %>, text: <% $value %> ?? '', address: <% $value %> && `tel:${<% $value %>}` },
<%- else if eq .Type "url" %>
    { label: <% js .Label %>, text: <% $value %> ?? '', address: /^https?:\/\//i.test(<% $value %>) ? <% $value %> : undefined },
<%- else if eq .Type "boolean" %>
    { label: <% js .Label %>, text: <% $value %> ? 'Yes' : 'No' },
<%- else if eq .Type "number" %>
    { label: <% js .Label %>, text: String(<% $value %> ?? '') },
<%- else %>
    { label: <% js .Label %>, text: <% $value %> ?? '' },
<%- end %>
<%- end %>
  ];
}

/** Loads the <% .ManyLower %> and shows them, or says that there are none or that it failed. */
export async function show(section) {
  const status = section.querySelector('[role="status"]');
  const retry = section.querySelector('button');
  const <% if .Table %>table = section.querySelector('table')<% else %>list = section.querySelector('ul')<% end %>;
  retry.onclick = () => show(section);
  retry.hidden = true;
  <% if .Table %>table<% else %>list<% end %>.hidden = true;
  status.textContent = 'Loading <% .ManyLower %>…';
  try {
    const <% .Many %> = await load(section.dataset.source);
    status.textContent = <% .Many %>.length === 0 ? 'There are no <% .ManyLower %> yet.' : '';
<%- if .Table %>
    table.tBodies[0].replaceChildren(...<% .Many %>.map(row));
    table.hidden = <% .Many %>.length === 0;
<%- else %>
    list.replaceChildren(...<% .Many %>.map(row));
    list.hidden = <% .Many %>.length === 0;
<%- end %>
  } catch {
    status.textContent = 'The <% .ManyLower %> could not be loaded.';
    retry.hidden = false;
  }
}

function row(<% .One %>) {
<%- if .Table %>
  const line = document.createElement('tr');
  cells(<% .One %>).forEach((cell, index) => {
    const box = document.createElement(index === 0 ? 'th' : 'td');
    if (index === 0) box.scope = 'row';
    box.append(content(cell));
    line.append(box);
  });
<%- else %>
  const line = document.createElement('li');
  cells(<% .One %>).forEach((cell, index) => {
    const box = document.createElement(index === 0 ? 'strong' : 'div');
    box.append(...(index === 0 ? [] : [`${cell.label}: `]), content(cell));
    line.append(box);
  });
<%- end %>
  return line;
}

function content({ text, address }) {
  if (!address) return document.createTextNode(text);
  const link = document.createElement('a');
  link.href = address;
  link.textContent = text;
  return link;
}
