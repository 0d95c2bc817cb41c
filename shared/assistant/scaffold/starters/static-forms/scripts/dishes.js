const kinds = { salad: 'Salads', warm: 'Warm dishes', bread: 'Bread', sweet: 'Sweet things', drinks: 'Drinks' };
const counts = { salad: 14, warm: 11, bread: 5, sweet: 8, drinks: 3 };

export function showDishes(list, template, mine) {
  const all = Object.entries(kinds).map(([id, label]) => ({ id, label, count: counts[id] + (id === mine ? 1 : 0) }));
  const most = Math.max(...all.map(({ count }) => count));
  list.replaceChildren(
    ...all.map(({ id, label, count }) => {
      const item = template.content.cloneNode(true).firstElementChild;
      const [name, bar, number] = item.children;
      name.textContent = label;
      bar.style.setProperty('--share', count / most);
      number.textContent = count;
      item.classList.toggle('mine', id === mine);
      return item;
    }),
  );
}
