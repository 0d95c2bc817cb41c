import { computed, ref } from 'vue'
import { tickets as samples, type Status, type Ticket } from '@/lib/tickets'

const tickets = ref<Ticket[]>(structuredClone(samples))
const status = ref<Status | 'all'>('all')
const selectedId = ref(samples[0].id)
const query = ref('')

export function useInbox() {
  const visible = computed(() =>
    tickets.value.filter(
      (t) =>
        (status.value === 'all' || t.status === status.value) &&
        `${t.subject} ${t.customer}`.toLowerCase().includes(query.value.toLowerCase()),
    ),
  )
  const selected = computed(() => tickets.value.find((t) => t.id === selectedId.value))
  const counts = computed(() => {
    const result: Record<Status | 'all', number> = { all: tickets.value.length, open: 0, waiting: 0, closed: 0 }
    for (const t of tickets.value) result[t.status]++
    return result
  })

  function open(id: number) {
    selectedId.value = id
    const ticket = tickets.value.find((t) => t.id === id)
    if (ticket) ticket.unread = false
  }
  function reply(text: string, close: boolean) {
    if (!selected.value) return
    selected.value.messages.push({ from: 'agent', author: 'You', at: 'Now', text })
    selected.value.status = close ? 'closed' : 'waiting'
  }
  return { tickets, status, query, visible, selected, counts, open, reply }
}
