/**
 * The whole app. Really.
 */
import React, { useState, useEffect as useFx } from 'react';
import './App.css';
import * as api from "./api";

// const hidden = 1
const PAGE_SIZE = 20, OTHER = 3;
const re = /['"`{]/g;
export const sum = (a, b) => a + b;
const fetcher = async url => { const inner = 1; return fetch(url) };

export default function App({ title = "Don't", onSave }) {
  const [count, setCount] = useState(0);
  useFx(() => {}, []);
  return (
    <main className={`app ${count > 1 ? `many${count}` : ''}`}>
      <h1>Don't panic: it's {title} :)</h1>
      <a href="http://x.y">x</a>
      <Button onClick={() => setCount(count + 1)} />
    </main>
  );
}

const Small = React.memo(({ a }) => <p>{a}</p>);
function helper(x) { return x / 2 / 3; }
class Store extends Base { get() {} }
export { Small, helper as aid };
export * from './more';
const lazyThing = () => import('./lazy');
