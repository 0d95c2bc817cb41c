export type Status = 'open' | 'waiting' | 'closed'
export type Priority = 'high' | 'normal' | 'low'

export interface Message {
  from: 'customer' | 'agent'
  author: string
  at: string
  text: string
}

export interface Ticket {
  id: number
  subject: string
  customer: string
  status: Status
  priority: Priority
  unread: boolean
  messages: Message[]
}

export const agents = ['Unassigned', 'Noor', 'Felix', 'Amara'] as const

export const tickets: Ticket[] = [
  {
    id: 1042,
    subject: 'Invoice shows the wrong address',
    customer: 'Paula Reyes',
    status: 'open',
    priority: 'high',
    unread: true,
    messages: [
      { from: 'customer', author: 'Paula Reyes', at: '09:12', text: 'Our invoice for May still has the old office on it. Our accountant needs a corrected copy before Friday.' },
      { from: 'agent', author: 'Noor', at: '09:30', text: 'Thank you for telling us. Is the new address the one in your workspace settings?' },
      { from: 'customer', author: 'Paula Reyes', at: '09:34', text: 'Yes, exactly that one.' },
    ],
  },
  {
    id: 1041,
    subject: 'Export stops at 5,000 rows',
    customer: 'Bo Lindqvist',
    status: 'waiting',
    priority: 'normal',
    unread: false,
    messages: [{ from: 'customer', author: 'Bo Lindqvist', at: 'Yesterday', text: 'We have 7,200 boats. The file ends in the middle of the letter M.' }],
  },
  {
    id: 1039,
    subject: 'Can two crews share a calendar?',
    customer: 'Mele Faleolo',
    status: 'open',
    priority: 'low',
    unread: true,
    messages: [{ from: 'customer', author: 'Mele Faleolo', at: 'Yesterday', text: 'The night crew and the day crew use the same crane.' }],
  },
  {
    id: 1033,
    subject: 'Tide warnings arrive twice',
    customer: 'Joris Maes',
    status: 'closed',
    priority: 'normal',
    unread: false,
    messages: [{ from: 'customer', author: 'Joris Maes', at: 'Monday', text: 'Since the weekend every phone gets two messages.' }],
  },
]
