import type { Conversation } from '../types'

const talk = (id: string, lines: [string, string, string][]) =>
  lines.map(([author, time, text], index) => ({ id: `${id}-${index}`, author, time, text }))

export const conversations: Conversation[] = [
  {
    id: 'sailing',
    name: 'Sailing club',
    members: 'Greta, Oskar, Yara and you',
    color: 'primary',
    online: true,
    unread: 0,
    messages: talk('sailing', [
      ['Greta', '9:12', 'Good morning! Who comes on Sunday?'],
      ['Oskar', '9:15', 'Me, if the wind stays under five.'],
      ['me', '9:20', 'I bring the sandwiches.'],
      ['Greta', '9:21', 'The harbour is closed on Monday, so we must be back by six.'],
      ['Yara', '9:40', 'Is there room for my brother? He can tie exactly one knot.'],
    ]),
  },
  {
    id: 'yara',
    name: 'Yara Haddad',
    members: 'Last seen today',
    color: 'accent',
    online: true,
    unread: 2,
    messages: talk('yara', [
      ['me', 'Mon', 'Did you find the charger?'],
      ['Yara', 'Mon', 'In the fruit bowl. Do not ask.'],
      ['Yara', 'Mon', 'Thank you for looking!'],
    ]),
  },
  {
    id: 'landlord',
    name: 'House 14',
    members: '8 neighbours',
    color: 'secondary',
    online: false,
    unread: 0,
    messages: talk('landlord', [
      ['Mr Pinto', 'Fri', 'The water is off on Thursday from 8 to 10.'],
      ['me', 'Fri', 'Noted, thank you.'],
    ]),
  },
  { id: 'books', name: 'Book circle', members: 'Nobody has written yet', color: 'neutral', online: false, unread: 0, messages: [] },
]

export const replies = [
  'Good point. Let us do it like that.',
  'I will ask, and write to you tonight.',
  'Ha! That was my thought as well.',
  'Can you send me the time again?',
]
