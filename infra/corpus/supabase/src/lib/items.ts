import type { Item, NewItem } from './database.types';
import { supabase } from './supabase';

let sample: Item[] = [
  { id: '1', name: 'Rice', amount: 2, shelf: 'Dry', created_at: '2026-09-01' },
  { id: '2', name: 'Chickpeas', amount: 6, shelf: 'Cans', created_at: '2026-09-03' },
  { id: '3', name: 'Apricot jam', amount: 1, shelf: 'Glass', created_at: '2026-09-09' },
];

export async function listItems(): Promise<Item[]> {
  if (!supabase) return sample;
  const { data, error } = await supabase.from('items').select('*').order('created_at', { ascending: false });
  if (error) throw error;
  return data;
}

export async function addItem(item: NewItem): Promise<void> {
  if (!supabase) {
    sample = [{ ...item, id: crypto.randomUUID(), created_at: new Date().toISOString() }, ...sample];
    return;
  }
  const { error } = await supabase.from('items').insert(item);
  if (error) throw error;
}

export async function removeItem(id: string): Promise<void> {
  if (!supabase) {
    sample = sample.filter((item) => item.id !== id);
    return;
  }
  const { error } = await supabase.from('items').delete().eq('id', id);
  if (error) throw error;
}
