import { BellOff, CalendarHeart, Clock4, GitBranch, type LucideIcon, MessagesSquare, ShieldCheck } from 'lucide-react'

export const links = [
  { href: '#features', label: 'Features' },
  { href: '#pricing', label: 'Pricing' },
  { href: '#questions', label: 'Questions' },
]

export const features: { icon: LucideIcon; title: string; text: string }[] = [
  { icon: CalendarHeart, title: 'Fair shifts', text: 'Weekends, nights and holidays are counted and shared. Everybody sees the score.' },
  { icon: BellOff, title: 'Fewer alarms', text: 'Alarms that repeat are joined, and those that heal themselves wait two minutes.' },
  { icon: GitBranch, title: 'The right person', text: 'The one who changed the service last week is asked before the one who never saw it.' },
  { icon: MessagesSquare, title: 'Handover notes', text: 'Each shift ends with three lines, written for you from what happened.' },
  { icon: Clock4, title: 'Sleep protection', text: 'After a call at night, the next morning is free, and the plan changes by itself.' },
  { icon: ShieldCheck, title: 'Never silent', text: 'If our own service fails, your phone rings by a second, separate way.' },
]

export const quotes = [
  { text: 'We went from eleven calls a week to two. I read a novel again.', name: 'Dana Whitfield', role: 'Platform lead, Parcelry' },
  { text: 'The first tool that my team asked me to keep.', name: 'Ilir Hoxha', role: 'CTO, Mapwise' },
  { text: 'Setting it up took less time than my last incident.', name: 'Wen Zhao', role: 'SRE, Tonic Health' },
]

export const questions = [
  ['Do we need to replace our alerts?', 'No. Nightowl reads from what you have: a webhook address is enough.'],
  ['What happens on public holidays?', 'Each person chooses a calendar. Shifts on holidays count twice, and nobody gets two in a row.'],
  ['Where is our data?', 'In Frankfurt or in Ohio, as you choose. Messages are deleted after 90 days.'],
]
