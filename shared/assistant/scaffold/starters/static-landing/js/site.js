const root = document.documentElement;
const nav = document.querySelector('.nav');
const menu = document.querySelector('.menu');

document.querySelector('.theme').addEventListener('click', () => {
  root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
  localStorage.setItem('theme', root.dataset.theme);
});

function setMenu(open) {
  nav.classList.toggle('open', open);
  menu.setAttribute('aria-expanded', String(open));
}
menu.addEventListener('click', () => setMenu(!nav.classList.contains('open')));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') setMenu(false);
});

// Elements appear when they are scrolled into view.
const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      entry.target.classList.add('seen');
      observer.unobserve(entry.target);
    }
  },
  { rootMargin: '0px 0px -8% 0px' },
);
document.querySelectorAll('.reveal').forEach((element) => observer.observe(element));

// The opening hours of the days from Sunday to Saturday.
const hours = [[12, 17], null, [10, 21], [10, 21], [10, 21], [10, 21], [10, 18]];

function isOpen(date) {
  const today = hours[date.getDay()];
  return today !== null && date.getHours() >= today[0] && date.getHours() < today[1];
}
for (const element of document.querySelectorAll('[data-open]')) {
  element.textContent = isOpen(new Date()) ? 'The light is on right now.' : 'The light is off right now.';
}

const form = document.querySelector('form[data-mail]');
form?.addEventListener('submit', (event) => {
  event.preventDefault();
  const { name, email, topic, message } = Object.fromEntries(new FormData(form));
  const body = `${message}\n\n${name} (${email})`;
  form.querySelector('[role=status]').textContent = 'Your mail program should have opened. Thank you!';
  location.href = `mailto:${form.dataset.mail}?subject=${encodeURIComponent(topic)}&body=${encodeURIComponent(body)}`;
});
