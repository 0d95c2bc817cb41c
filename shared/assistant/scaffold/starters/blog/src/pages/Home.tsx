import { ArrowRight, Search } from 'lucide-react';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router-dom';
import { formatDate, posts, tags } from '../lib/posts';

export function Home() {
  const [params] = useSearchParams();
  const [search, setSearch] = useState('');
  const tag = params.get('tag');
  const shown = posts.filter(
    (post) =>
      (!tag || post.tags.includes(tag)) && `${post.title} ${post.summary} ${post.body}`.toLowerCase().includes(search.toLowerCase()),
  );

  return (
    <>
      <section className="pb-10 pt-8 sm:pb-14 sm:pt-14">
        <h1 className="font-serif text-5xl font-bold tracking-tight sm:text-7xl">Field Notes</h1>
        <p className="mt-5 max-w-lg font-serif text-xl leading-relaxed text-stone-600 dark:text-stone-400">
          On gardens, tools, and other things that get better when you look at them for a while.
        </p>
      </section>
      <div className="flex flex-wrap items-center gap-2 border-y border-stone-200 py-4 dark:border-stone-800">
        <Link to="/" className="tag" aria-current={!tag}>
          all
        </Link>
        {tags.map((name) => (
          <Link key={name} to={`/?tag=${name}`} className="tag" aria-current={name === tag}>
            {name}
          </Link>
        ))}
        <label className="relative w-full sm:ml-auto sm:w-48">
          <Search size={15} className="absolute left-3 top-2.5 text-stone-400" />
          <input
            type="search"
            placeholder="Search"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
            className="w-full rounded-full border border-stone-300 bg-transparent py-1.5 pl-9 pr-3 text-sm outline-none focus:border-lime-700 dark:border-stone-700"
          />
        </label>
      </div>
      {shown.length === 0 && (
        <p className="py-16 text-center font-serif text-lg text-stone-500">
          No note has these words. Try a shorter one, or <Link to="/" className="underline" onClick={() => setSearch('')}>read all</Link>.
        </p>
      )}
      <div className="divide-y divide-stone-200 dark:divide-stone-800">
        {shown.map((post) => (
          <article key={post.slug} className="py-9">
            <p className="text-sm text-stone-500">
              <time dateTime={post.date}>{formatDate(post.date)}</time> · {post.minutes} min
            </p>
            <h2 className="mt-2 font-serif text-2xl font-bold sm:text-3xl">
              <Link to={`/post/${post.slug}`} className="hover:text-lime-800 dark:hover:text-lime-400">
                {post.title}
              </Link>
            </h2>
            <p className="mt-3 font-serif text-lg leading-relaxed text-stone-600 dark:text-stone-400">{post.summary}</p>
            <Link to={`/post/${post.slug}`} className="more mt-4 inline-flex items-center gap-1.5 text-sm font-medium text-lime-800 dark:text-lime-400">
              Read on <ArrowRight size={15} />
            </Link>
          </article>
        ))}
      </div>
    </>
  );
}
