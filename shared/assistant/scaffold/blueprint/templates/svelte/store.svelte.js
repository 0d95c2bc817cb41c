<%- if .TS %>
export interface <% .Type %> {
  id: string;
<%- range .Inputs %>
  <% .Key %><% if not .Required %>?<% end %>: <% $.TypeOf . %>;
<%- end %>
}
<%- end %>

/** <% .ManySentence %>, loaded from the server and kept in step with it. */
export class <% .TypeMany %>Store {
<%- if .TS %>
  <% .Many %>: <% .Type %>[] = $state([]);
  isLoading = $state(false);
  failure: Error | null = $state(null);
<%- else %>
  <% .Many %> = $state([]);
  isLoading = $state(false);
  failure = $state(null);
<%- end %>
  count = $derived(this.<% .Many %>.length);
  #source;

  constructor(source = <% js .API %>) {
    this.#source = source;
  }

  async load() {
    this.isLoading = true;
    this.failure = null;
    try {
      this.<% .Many %> = await this.#send('', 'GET');
    } catch (cause) {
      this.failure = cause<% if .TS %> as Error<% end %>;
    } finally {
      this.isLoading = false;
    }
  }

  async add(values<% if .TS %>: Omit<<% .Type %>, 'id'><% end %>)<% if .TS %>: Promise<<% .Type %>><% end %> {
    const added = await this.#send('', 'POST', values);
    this.<% .Many %>.push(added);
    return added;
  }

  async remove(id<% if .TS %>: string<% end %>) {
    await this.#send(`/${encodeURIComponent(id)}`, 'DELETE');
    this.<% .Many %> = this.<% .Many %>.filter((kept) => kept.id !== id);
  }

  async #send(path<% if .TS %>: string<% end %>, method<% if .TS %>: string<% end %>, body<% if .TS %>?: unknown<% end %>) {
    const response = await fetch(this.#source + path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body)
    });
    if (!response.ok) throw new Error(`${this.#source + path} answered ${response.status}`);
    return response.status === 204 ? undefined : response.json();
  }
}

/** The one that components share in the browser. On a server make one a request: what is shared there is shared by all visitors. */
export const <% .Fn %> = new <% .TypeMany %>Store();
