import { Link, Route, Routes } from 'react-router-dom';
import { Home } from './pages/Home';
import { NotFound } from './pages/NotFound';
import { Post } from './pages/Post';

function App() {
  return (
    <div className="mx-auto flex min-h-screen max-w-3xl flex-col px-5 sm:px-8">
      <header className="flex items-center justify-between py-7">
        <Link to="/" className="flex items-center gap-2.5 font-serif text-lg font-bold">
          <img src="/leaf.svg" alt="" className="h-7 w-7" /> Field Notes
        </Link>
        <p className="text-sm text-stone-500">slow writing, once a month</p>
      </header>
      <main className="flex-1">
        <Routes>
          <Route path="/" element={<Home />} />
          <Route path="/post/:slug" element={<Post />} />
          <Route path="*" element={<NotFound />} />
        </Routes>
      </main>
      <footer className="mt-20 border-t border-stone-200 py-8 text-sm text-stone-500 dark:border-stone-800">
        Field Notes is written by hand and kept in Markdown files in <code>src/posts</code>.
      </footer>
    </div>
  );
}

export default App;
