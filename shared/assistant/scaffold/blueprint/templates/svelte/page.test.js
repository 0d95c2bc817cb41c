// @vitest-environment jsdom
import { render, screen } from '@testing-library/svelte';
<%- if or .LoadsHere .Shallow %>
import { afterEach, expect, test, vi } from 'vitest';
<%- else %>
import { expect, test } from 'vitest';
<%- end %>
import <% .Part.Name %> from <% js .Part.Import %>;
<%- if or .LoadsHere .Shallow %>

afterEach(() => vi.unstubAllGlobals());
<%- end %>
<%- if .LoadsHere %>

test('shows what it loads', async () => {
  vi.stubGlobal('fetch', async () => Response.json(<% .Record 1 %>));
  render(<% .Part.Name %>);

<%- range .Inputs %>
  expect(await screen.findByText(<% $.Shows . 1 %>)).toBeTruthy();
<%- end %>
});

test('offers to try again after a failure', async () => {
  vi.stubGlobal('fetch', async () => new Response(null, { status: 500 }));
  render(<% .Part.Name %>);

  expect(await screen.findByRole('button', { name: 'Try again' })).toBeTruthy();
});
<%- else if .LoadsThere %>

test('shows what was loaded', () => {
  render(<% .Part.Name %>, { data: { <% .One %>: <% .Record 1 %> }<% if .TS %>, params: {}, form: null<% end %> });

<%- range .Inputs %>
  expect(screen.getByText(<% $.Shows . 1 %>)).toBeTruthy();
<%- end %>
});
<%- else %>

test('has a heading and names the document', () => {
<%- if .Shallow %>
  vi.stubGlobal('fetch', async () => Response.json([]));
<%- end %>
  render(<% .Part.Name %>);

  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe(<% js .Title %>);
  expect(document.title).toBe(<% js .Title %>);
});
<%- end %>
