<%- if .Inputs %>
/** What <<% .Class %>> shows of its attributes: a label and a text each, and an address where the text is a link. */
export function lines(attribute) {
  return [
<%- range .Inputs %>
<%- $read := printf "attribute('%s')" ($.Attribute .) %>
<%- if eq .Type "email" %>
    { label: <% js .Label %>, text: <% $read %>, address: `mailto:${<% $read %>}` },
<%- else if eq .Type "tel" %>
    { label: <% js .Label %>, text: <% $read %>, address: `tel:${<% $read %>}` },
<%- else if eq .Type "url" %>
    { label: <% js .Label %>, text: <% $read %>, address: /^https?:\/\//i.test(<% $read %>) ? <% $read %> : undefined },
<%- else if eq .Type "boolean" %>
    { label: <% js .Label %>, text: <% $read %> === null ? 'No' : 'Yes' },
<%- else %>
    { label: <% js .Label %>, text: <% $read %> },
<%- end %>
<%- end %>
  ].filter(({ text }) => text !== null);
}

/** <<% .Class %><% range .Inputs %> <% $.Attribute . %><% if ne .Type "boolean" %>="…"<% end %><% end %>></<% .Class %>> follows its attributes. */
export class <% .Name %> extends HTMLElement {
  static observedAttributes = [<% range $i, $f := .Inputs %><% if $i %>, <% end %>'<% $.Attribute $f %>'<% end %>];

  connectedCallback() {
    this.render();
  }

  attributeChangedCallback() {
    if (this.isConnected) this.render();
  }

  render() {
    const list = document.createElement('dl');
    for (const { label, text, address } of lines((name) => this.getAttribute(name))) {
      const term = document.createElement('dt');
      term.textContent = label;
      const description = document.createElement('dd');
      if (address) {
        const link = document.createElement('a');
        link.href = address;
        link.textContent = text;
        description.append(link);
      } else {
        description.textContent = text;
      }
      list.append(term, description);
    }
    this.replaceChildren(list);
  }
}
<%- else if eq .Shape "navigation" %>
export const links = [{ label: 'Home', href: '/' }];

/** <<% .Class %>></<% .Class %>> shows the links above and marks the current page. */
export class <% .Name %> extends HTMLElement {
  connectedCallback() {
    const navigation = document.createElement('nav');
    navigation.ariaLabel = this.getAttribute('label') ?? <% js .Title %>;
    const list = document.createElement('ul');
    for (const { label, href } of links) {
      const link = document.createElement('a');
      link.href = href;
      link.textContent = label;
      if (link.pathname === location.pathname) link.ariaCurrent = 'page';
      const item = document.createElement('li');
      item.append(link);
      list.append(item);
    }
    navigation.append(list);
    this.replaceChildren(navigation);
  }
}
<%- else %>
export const markup = `
  <style>
    :host {
      display: block;
      padding: 1.5rem;
      border: 1px solid #d0d5dd;
      border-radius: 0.75rem;
    }

    h2 {
      margin: 0 0 1rem;
    }
  </style>
  <h2><slot name="title"><% .Title %></slot></h2>
  <slot></slot>
`;

/** <<% .Class %>><span slot="title">…</span> …</<% .Class %>> */
export class <% .Name %> extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: 'open' }).innerHTML = markup;
  }
}
<%- end %>

customElements.define('<% .Class %>', <% .Name %>);
