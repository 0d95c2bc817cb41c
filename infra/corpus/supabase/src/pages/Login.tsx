import { FormEvent, useState } from 'react';
import { KeyRound, Salad } from 'lucide-react';
import { useAuth } from '../auth/AuthContext';
import { isConfigured } from '../lib/supabase';

export function Login() {
  const { signIn, enterDemo } = useAuth();
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    setBusy(true);
    setError('');
    try {
      await signIn(String(values.get('email')), String(values.get('password')));
    } catch (cause) {
      setError(cause instanceof Error ? cause.message : 'Signing in did not work.');
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className="grid min-h-screen place-content-center p-6">
      <form onSubmit={submit} className="w-full max-w-sm space-y-4 rounded-2xl bg-white p-8 shadow-xl shadow-emerald-900/10">
        <Salad className="text-emerald-700" size={36} />
        <h1 className="text-2xl font-bold">Shared pantry</h1>
        {!isConfigured && (
          <p role="note" className="flex gap-2 rounded-lg bg-amber-50 p-3 text-sm text-amber-900">
            <KeyRound size={28} /> Supabase is not connected. Everything works with sample data.
          </p>
        )}
        <input className="input" type="email" name="email" placeholder="E-mail" autoComplete="email" required />
        <input className="input" type="password" name="password" placeholder="Password" autoComplete="current-password" minLength={6} required />
        {error && <p className="text-sm text-red-700">{error}</p>}
        <button type="submit" className="primary w-full" disabled={busy}>
          Sign in
        </button>
        {!isConfigured && (
          <button type="button" onClick={enterDemo} className="w-full text-sm text-emerald-800 underline">
            Look around first
          </button>
        )}
      </form>
    </main>
  );
}
