// The interface of the first version: functions instead of a property.
import { effect, signal as modern } from './index.js';

export { effect };

export function signal(value) {
  const inner = modern(value);
  return [() => inner.value, (next) => (inner.value = next)];
}
