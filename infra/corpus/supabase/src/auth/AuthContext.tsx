import { createContext, ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { supabase } from '../lib/supabase';

interface Auth {
  email: string | null;
  signIn: (email: string, password: string) => Promise<void>;
  enterDemo: () => void;
  signOut: () => Promise<void>;
}

const AuthContext = createContext<Auth | null>(null);

export function AuthProvider({ children }: { children: ReactNode }) {
  const [email, setEmail] = useState<string | null>(null);

  useEffect(() => {
    if (!supabase) return;
    const { data } = supabase.auth.onAuthStateChange((_event, session) => setEmail(session?.user.email ?? null));
    return () => data.subscription.unsubscribe();
  }, []);

  const auth = useMemo<Auth>(
    () => ({
      email,
      signIn: async (address, password) => {
        if (!supabase) {
          setEmail(address);
          return;
        }
        const { error } = await supabase.auth.signInWithPassword({ email: address, password });
        if (error) throw error;
      },
      enterDemo: () => setEmail('guest'),
      signOut: async () => {
        await supabase?.auth.signOut();
        setEmail(null);
      },
    }),
    [email]
  );

  return <AuthContext.Provider value={auth}>{children}</AuthContext.Provider>;
}

export function useAuth() {
  const auth = useContext(AuthContext);
  if (!auth) throw new Error('useAuth needs an AuthProvider.');
  return auth;
}
