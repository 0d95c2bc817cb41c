export interface Post {
  slug: string;
  title: string;
  date: string;
  tags: string[];
  summary: string;
  body: string;
  minutes: number;
}

const files = import.meta.glob<string>('../posts/*.md', { query: '?raw', import: 'default', eager: true });

/** Splits the lines between the two --- from the text below them. */
export function parse(path: string, source: string): Post {
  const [, head = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(source.replace(/\r\n/g, '\n')) ?? [];
  const values = Object.fromEntries(
    head.split('\n').map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
  return {
    slug: path.split('/').pop()!.replace(/\.md$/, ''),
    title: values.title ?? 'Untitled',
    date: values.date ?? '',
    tags: values.tags ? values.tags.split(',').map((tag) => tag.trim()) : [],
    summary: values.summary ?? '',
    body,
    minutes: Math.max(1, Math.round(body.split(/\s+/).length / 200)),
  };
}

export const posts = Object.entries(files)
  .map(([path, source]) => parse(path, source))
  .sort((a, b) => b.date.localeCompare(a.date));

export const tags = [...new Set(posts.flatMap((post) => post.tags))].sort();

export const formatDate = (date: string) =>
  new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(date));
