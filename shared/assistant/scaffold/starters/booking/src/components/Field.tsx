import type { ReactNode } from 'react';

interface FieldProps {
  label: string;
  error?: string;
  children: ReactNode;
}

export function Field({ label, error, children }: FieldProps) {
  return (
    <label className="block">
      <span className="mb-1.5 block text-sm font-medium">{label}</span>
      {children}
      <FieldError message={error} />
    </label>
  );
}

export function FieldError({ message }: { message?: string }) {
  return message ? (
    <span role="alert" className="mt-1.5 block text-sm text-rose-700 dark:text-rose-400">
      {message}
    </span>
  ) : null;
}

const base =
  'w-full rounded-xl bg-white shadow-none focus:border-rose-600 focus:ring-rose-600/30 dark:border-stone-700 dark:bg-stone-950';
export const inputClass = `form-input border-stone-300 ${base}`;
export const textareaClass = `form-textarea border-stone-300 ${base}`;
