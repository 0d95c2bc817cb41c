import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import type { Database } from './database.types';

const url = import.meta.env.VITE_SUPABASE_URL;
const key = import.meta.env.VITE_SUPABASE_ANON_KEY;

/** Reports whether the variables have values of a real project. */
export const isConfigured = Boolean(url && key && !url.includes('your-project'));

/** The client, or null if the project is not connected. Then the app works with sample data. */
export const supabase: SupabaseClient<Database> | null = isConfigured
  ? createClient<Database>(url!, key!, { auth: { persistSession: true, autoRefreshToken: true } })
  : null;
