// Runs before the first paint. The page would otherwise flash in the wrong theme.
(function () {
  var saved = null;
  try {
    saved = localStorage.getItem('theme');
  } catch (error) {
    // Storage is blocked. The system's setting decides.
  }
  var dark = saved ? saved === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  document.documentElement.classList.add('js');
})();
