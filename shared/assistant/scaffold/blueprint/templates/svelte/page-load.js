import { error } from '@sveltejs/kit';
<%- if .TS %>
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch }) => {
  const response = await fetch(<% js .API %>);
  if (!response.ok) error(response.status, 'The <% .Lower %> could not be loaded.');
  return { <% .One %>: await response.json() };
};
<%- else %>

/** @type {import('./$types').PageLoad} */
export async function load({ fetch }) {
  const response = await fetch(<% js .API %>);
  if (!response.ok) error(response.status, 'The <% .Lower %> could not be loaded.');
  return { <% .One %>: await response.json() };
}
<%- end %>
