import dayjs from 'dayjs'
import { type DBSchema, openDB } from 'idb'

interface WaterSchema extends DBSchema {
  drinks: {
    key: number
    value: { id?: number; day: string; amount: number; at: number }
    indexes: { day: string }
  }
}

const database = openDB<WaterSchema>('waterglass', 1, {
  upgrade(db) {
    db.createObjectStore('drinks', { keyPath: 'id', autoIncrement: true }).createIndex('day', 'day')
  },
})

export const today = () => dayjs().format('YYYY-MM-DD')

export async function add(amount: number) {
  await (await database).add('drinks', { day: today(), amount, at: Date.now() })
}

export async function drinksOf(day: string) {
  return (await database).getAllFromIndex('drinks', 'day', day)
}

export async function undo() {
  const db = await database
  const last = (await db.getAllFromIndex('drinks', 'day', today())).at(-1)
  if (last?.id) await db.delete('drinks', last.id)
}
