const source = new URL(<% js .Data %>, import.meta.url);

/** All <% .ManyLower %> of the JSON file that stands in for a server. */
export async function list<% .TypeMany %>() {
  const response = await fetch(source);
  if (!response.ok) throw new Error(`${source} answered ${response.status}`);
  return response.json();
}

/** The <% .Lower %> of an id; undefined if there is none. */
export async function get<% .Type %>(id) {
  const all = await list<% .TypeMany %>();
  return all.find((<% .One %>) => <% .One %>.id === id);
}
