import { useSyncExternalStore } from "react";

export interface ToastMessage {
  id: number;
  title: string;
  description?: string;
}

let messages: ToastMessage[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function publish(next: ToastMessage[]) {
  messages = next;
  listeners.forEach((listener) => listener());
}

export function toast(message: Omit<ToastMessage, "id">) {
  publish([{ ...message, id: nextId++ }, ...messages].slice(0, 3));
}

export function dismiss(id: number) {
  publish(messages.filter((message) => message.id !== id));
}

export function useToast() {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => messages,
  );
}
