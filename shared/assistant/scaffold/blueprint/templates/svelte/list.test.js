// @vitest-environment jsdom
import { render, screen } from '@testing-library/svelte';
import { userEvent } from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import <% .Part.Name %> from <% js .Part.Import %>;

const <% .Many %> = [
  <% .Stored 1 %>,
  <% .Stored 2 %>
];

afterEach(() => vi.unstubAllGlobals());

function answer(...responses<% if .TS %>: Response[]<% end %>) {
  vi.stubGlobal('fetch', vi.fn(async () => responses.shift()));
}

test('shows the <% .ManyLower %> once they are loaded', async () => {
  answer(Response.json(<% .Many %>));
  render(<% .Part.Name %>);

  expect(screen.getByRole('status').textContent).toContain('Loading');
<%- if .Table %>
  expect(await screen.findAllByRole('rowheader')).toHaveLength(2);
<%- else %>
  expect(await screen.findAllByRole('listitem')).toHaveLength(2);
<%- end %>
});

test('says that there are none', async () => {
  answer(Response.json([]));
  render(<% .Part.Name %>);

  expect(await screen.findByText('There are no <% .ManyLower %> yet.')).toBeTruthy();
});

test('tries again after a failure', async () => {
  answer(new Response(null, { status: 500 }), Response.json(<% .Many %>));
  render(<% .Part.Name %>);

  await userEvent.click(await screen.findByRole('button', { name: 'Try again' }));
<%- if .Table %>

  expect(await screen.findAllByRole('rowheader')).toHaveLength(2);
<%- else %>

  expect(await screen.findAllByRole('listitem')).toHaveLength(2);
<%- end %>
});
