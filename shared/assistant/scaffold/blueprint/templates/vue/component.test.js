// @vitest-environment jsdom
import { mount } from '@vue/test-utils'
<%- if or (eq .Shape "dialog") (eq .Shape "button") %>
import { expect, test, vi } from 'vitest'
<%- else %>
import { expect, test } from 'vitest'
<%- end %>
import <% .Part.Name %> from <% js .Part.Import %>
<%- if eq .Shape "button" %>

test('passes clicks on', async () => {
  const onClick = vi.fn()
  const wrapper = mount(<% .Part.Name %>, { attrs: { onClick }, slots: { default: 'Go' } })

  await wrapper.get('button').trigger('click')

  expect(wrapper.text()).toBe('Go')
  expect(onClick).toHaveBeenCalledOnce()
})

test('can not be clicked while it is busy', () => {
  const wrapper = mount(<% .Part.Name %>, { props: { busy: true } })

  expect(wrapper.get('button').attributes()).toHaveProperty('disabled')
})
<%- else if eq .Shape "dialog" %>

// jsdom knows the element, but not how to open it.
HTMLDialogElement.prototype.showModal = vi.fn()
HTMLDialogElement.prototype.close = vi.fn()

test('opens and asks to be closed', async () => {
  const wrapper = mount(<% .Part.Name %>, { props: { open: true, title: 'Sure?' }, slots: { default: 'Really?' } })

  expect(HTMLDialogElement.prototype.showModal).toHaveBeenCalledOnce()
  expect(wrapper.text()).toContain('Sure?')
  expect(wrapper.text()).toContain('Really?')

  await wrapper.get('button[aria-label="Close"]').trigger('click')

  expect(wrapper.emitted('update:open')).toEqual([[false]])
})
<%- else if eq .Shape "navigation" %>

const links = [
  { label: 'Home', href: '/' },
  { label: 'News', href: '/news' },
]

test('marks the current page', () => {
  const wrapper = mount(<% .Part.Name %>, { props: { links, current: '/news' } })

  expect(wrapper.findAll('a').map((link) => link.text())).toEqual(['Home', 'News'])
  expect(wrapper.get('[aria-current="page"]').text()).toBe('News')
})

test('opens its menu', async () => {
  const wrapper = mount(<% .Part.Name %>, { props: { links } })
  const button = wrapper.get('button')

  expect(button.attributes('aria-expanded')).toBe('false')
  await button.trigger('click')
  expect(button.attributes('aria-expanded')).toBe('true')
})
<%- else if eq .Shape "counter" %>

test('counts up and down in steps', async () => {
  const wrapper = mount(<% .Part.Name %>, { props: { step: 2 } })

  await wrapper.get('[aria-label="Increase"]').trigger('click')
  await wrapper.get('[aria-label="Increase"]').trigger('click')
  await wrapper.get('[aria-label="Decrease"]').trigger('click')

  expect(wrapper.get('output').text()).toBe('2')
})
<%- else if .Inputs %>

test('shows everything about the <% .Lower %>', () => {
  const wrapper = mount(<% .Part.Name %>, { props: { <% .One %>: <% .Record 1 %> } })

<%- range .Inputs %>
  expect(wrapper.text()).toContain(<% $.Shows . 1 %>)
<%- end %>
})
<%- else %>

test('shows its title and what is put into it', () => {
  const wrapper = mount(<% .Part.Name %>, { props: { title: 'Hello' }, slots: { default: '<p>World</p>' } })

  expect(wrapper.get('h2').text()).toBe('Hello')
  expect(wrapper.get('p').text()).toBe('World')
})
<%- end %>
