const texts = {
  valueMissing: { name: 'Please tell us your name.', house: 'Which house?', email: 'We need an address to write to if it rains.', dish: 'Choose one, so that there is enough of everything.' },
  typeMismatch: { email: 'This does not look like an email address.' },
  patternMismatch: { house: 'A number from 1 to 99, with a letter if there is one.' },
  tooShort: { name: 'Two letters or more.' },
  rangeOverflow: { seats: 'Five seats at most. Write to us if you need more.' },
  rangeUnderflow: { seats: 'One seat at least.' },
};

function messageOf(input) {
  for (const problem in texts) {
    if (input.validity[problem]) return texts[problem][input.name] ?? input.validationMessage;
  }
  return input.validationMessage;
}

function check(input) {
  const field = input.closest('.field');
  if (!field) return input.validity.valid;
  const { valid } = input.validity;
  const error = field.querySelector('.error');
  field.classList.toggle('wrong', !valid);
  input.setAttribute('aria-invalid', String(!valid));
  if (error) error.textContent = valid ? '' : messageOf(input);
  return valid;
}

// Returns a function that checks all fields and moves to the first one that is wrong.
export function attachValidation(form) {
  const inputs = () => [...form.elements].filter((element) => element.name);

  form.addEventListener('focusout', ({ target }) => {
    if (target.name && target.value) check(target);
  });
  form.addEventListener('input', ({ target }) => {
    if (target.closest('.wrong')) check(target);
  });
  form.addEventListener('reset', () => {
    for (const field of form.querySelectorAll('.wrong')) field.classList.remove('wrong');
  });
  return () => {
    const wrong = inputs().filter((input) => !check(input));
    wrong[0]?.focus();
    return wrong.length === 0;
  };
}

export function read(form) {
  const data = new FormData(form);
  return {
    name: data.get('name').trim(),
    email: data.get('email').trim(),
    house: data.get('house').trim(),
    seats: Number(data.get('seats')),
    dish: data.get('dish'),
    title: data.get('title').trim(),
    avoid: data.getAll('avoid'),
    help: data.has('help'),
  };
}

export function fill(form, booking) {
  for (const input of form.elements) {
    const value = booking[input.name];
    if (value === undefined) continue;
    if (input.type === 'radio') input.checked = input.value === value;
    else if (input.type === 'checkbox') input.checked = Array.isArray(value) ? value.includes(input.value) : value;
    else input.value = value;
  }
}
