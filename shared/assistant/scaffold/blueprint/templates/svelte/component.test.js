// @vitest-environment jsdom
import { render, screen } from '@testing-library/svelte';
<%- if ne .Shape "content" %>
import { userEvent } from '@testing-library/user-event';
<%- end %>
<%- if .TakesChildren %>
import { createRawSnippet } from 'svelte';
<%- end %>
<%- if or (eq .Shape "dialog") (eq .Shape "button") %>
import { expect, test, vi } from 'vitest';
<%- else %>
import { expect, test } from 'vitest';
<%- end %>
import <% .Part.Name %> from <% js .Part.Import %>;
<%- if eq .Shape "button" %>

const children = createRawSnippet(() => ({ render: () => '<span>Go</span>' }));

test('passes clicks on', async () => {
  const onclick = vi.fn();
  render(<% .Part.Name %>, { onclick, children });

  await userEvent.click(screen.getByRole('button', { name: 'Go' }));

  expect(onclick).toHaveBeenCalledOnce();
});

test('can not be clicked while it is busy', async () => {
  const onclick = vi.fn();
  render(<% .Part.Name %>, { onclick, children, busy: true });

  await userEvent.click(screen.getByRole('button', { name: 'Go' }));

  expect(onclick).not.toHaveBeenCalled();
});
<%- else if eq .Shape "dialog" %>

// jsdom knows the element, but not how to open it.
HTMLDialogElement.prototype.showModal = vi.fn();
HTMLDialogElement.prototype.close = vi.fn();

const children = createRawSnippet(() => ({ render: () => '<p>Really?</p>' }));

test('opens and can be closed', async () => {
  render(<% .Part.Name %>, { open: true, title: 'Sure?', children });

  expect(HTMLDialogElement.prototype.showModal).toHaveBeenCalledOnce();
  expect(screen.getByText('Sure?')).toBeTruthy();
  expect(screen.getByText('Really?')).toBeTruthy();

  await userEvent.click(screen.getByRole('button', { name: 'Close', hidden: true }));

  expect(HTMLDialogElement.prototype.close).toHaveBeenCalledOnce();
});
<%- else if eq .Shape "navigation" %>

const links = [
  { label: 'Home', href: '/' },
  { label: 'News', href: '/news' }
];

test('marks the current page', () => {
  render(<% .Part.Name %>, { links, current: '/news' });

  expect(screen.getAllByRole('link').map((link) => link.textContent)).toEqual(['Home', 'News']);
  expect(screen.getByRole('link', { current: 'page' }).textContent).toBe('News');
});

test('opens its menu', async () => {
  render(<% .Part.Name %>, { links });
  const button = screen.getByRole('button');

  expect(button.getAttribute('aria-expanded')).toBe('false');
  await userEvent.click(button);
  expect(button.getAttribute('aria-expanded')).toBe('true');
});
<%- else if eq .Shape "counter" %>

test('counts up and down in steps', async () => {
  render(<% .Part.Name %>, { step: 2 });

  await userEvent.click(screen.getByRole('button', { name: 'Increase' }));
  await userEvent.click(screen.getByRole('button', { name: 'Increase' }));
  await userEvent.click(screen.getByRole('button', { name: 'Decrease' }));

  expect(screen.getByRole('status').textContent).toBe('2');
});
<%- else if .Inputs %>

test('shows everything about the <% .Lower %>', () => {
  render(<% .Part.Name %>, { <% .One %>: <% .Record 1 %> });

<%- range .Inputs %>
  expect(screen.getByText(<% $.Shows . 1 %>)).toBeTruthy();
<%- end %>
});
<%- else %>

test('shows its title and what is put into it', () => {
  const children = createRawSnippet(() => ({ render: () => '<p>World</p>' }));
  render(<% .Part.Name %>, { title: 'Hello', children });

  expect(screen.getByRole('heading').textContent).toBe('Hello');
  expect(screen.getByText('World')).toBeTruthy();
});
<%- end %>
