let pages;

async function load() {
  const response = await fetch(new URL('./search.json', import.meta.url));
  return response.json();
}

export function search(input, list) {
  input.addEventListener('input', async () => {
    pages ??= load();
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = (await pages).filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)));
    list.hidden = words.length === 0;
    list.replaceChildren(
      ...hits.map(({ title, href }) => {
        const item = document.createElement('li');
        const link = Object.assign(document.createElement('a'), { href, textContent: title });
        item.append(link);
        return item;
      }),
    );
    if (hits.length === 0) list.textContent = 'No page has these words.';
  });
}
