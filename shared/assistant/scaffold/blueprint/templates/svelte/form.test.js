// @vitest-environment jsdom
import { render, screen } from '@testing-library/svelte';
import { userEvent } from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import <% .Part.Name %> from <% js .Part.Import %>;

const user = userEvent.setup({ delay: null });

afterEach(() => vi.unstubAllGlobals());

function answer(status<% if .TS %>: number<% end %>) {
  const fetch = vi.fn(async (_address<% if .TS %>: string<% end %>, _options<% if .TS %>: RequestInit<% end %>) => new Response('{}', { status }));
  vi.stubGlobal('fetch', fetch);
  return fetch;
}

async function fillIn() {
<%- range .Inputs %>
<%- if eq .Type "boolean" %>
  await user.click(screen.getByLabelText(<% js .Label %>));
<%- else %>
  await user.type(screen.getByLabelText(<% js .Label %>), <% js (.Sample 1) %>);
<%- end %>
<%- end %>
  await user.click(screen.getByRole('button'));
}
<%- if .HasRequired %>

test('says what is missing and sends nothing', async () => {
  const fetch = answer(200);
  const { container } = render(<% .Part.Name %>);

  await user.click(screen.getByRole('button'));

  const invalid = [...container.querySelectorAll('[aria-invalid="true"]')];
  expect(invalid.map((field) => field.getAttribute('name'))).toEqual([<% .RequiredKeys %>]);
  expect(document.activeElement).toBe(invalid[0]);
  expect(fetch).not.toHaveBeenCalled();
});
<%- end %>

test('sends what was typed', async () => {
  const fetch = answer(201);
  const onsaved = vi.fn();
  render(<% .Part.Name %>, { onsaved });

  await fillIn();
  expect((await screen.findByRole('status')).textContent).not.toBe('');

  const [address, options] = fetch.mock.calls[0]<% if .TS %>!<% end %>;
  expect(address).toBe(<% js .API %>);
  expect(JSON.parse(<% if .TS %>String(options.body)<% else %>options.body<% end %>)).toEqual(<% .Record 1 %>);
  expect(onsaved).toHaveBeenCalledExactlyOnceWith(<% .Record 1 %>);
});

test('says that it did not work', async () => {
  answer(500);
  const onsaved = vi.fn();
  render(<% .Part.Name %>, { onsaved });

  await fillIn();

  expect((await screen.findByRole('alert')).textContent).not.toBe('');
  expect(onsaved).not.toHaveBeenCalled();
});
