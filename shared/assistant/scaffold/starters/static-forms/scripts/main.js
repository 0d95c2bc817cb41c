import { startCountdown } from './countdown.js';
import { calendarFile, download } from './calendar.js';
import { showDishes } from './dishes.js';
import { clear, load, save } from './storage.js';
import { attachValidation, fill, read } from './form.js';

const SEATS = 72;
const TAKEN = 41;
const event = {
  title: 'The Long Table',
  place: 'Linden Street, between number 2 and number 38',
  start: new Date('2027-08-21T18:00'),
  end: new Date('2027-08-21T23:00'),
};

const $ = (selector) => document.querySelector(selector);
const dialog = $('#dialog');
const form = $('#form');
const validate = attachValidation(form);
let booking = load();

function show() {
  const free = SEATS - TAKEN - (booking?.seats ?? 0);
  $('.seats').textContent = booking
    ? `${booking.name}, your ${booking.seats === 1 ? 'seat is' : `${booking.seats} seats are`} saved. ${free} seats are left.`
    : `${free} of ${SEATS} seats are left.`;
  $('#mine').hidden = !booking;
  $('#join').textContent = booking ? 'Change my seat' : 'Save a seat';
  $('#remove').hidden = !booking;
  showDishes($('.bars'), $('#bar'), booking?.dish);
}

function toast(text) {
  const box = $('.toast');
  box.textContent = text;
  box.showPopover?.();
  setTimeout(() => box.hidePopover?.(), 3500);
}

function open() {
  form.reset();
  if (booking) fill(form, booking);
  dialog.showModal();
}

form.addEventListener('submit', (submit) => {
  if (!validate()) {
    submit.preventDefault();
    return;
  }
  booking = read(form);
  save(booking);
  show();
  toast(`See you on the street, ${booking.name.split(' ')[0]}!`);
});

dialog.addEventListener('click', (click) => {
  if (click.target === dialog || click.target.closest('.close')) dialog.close('cancel');
});

$('#remove').addEventListener('click', () => {
  clear();
  booking = null;
  dialog.close('removed');
  show();
  toast('Your seat is free again.');
});

$('#join').addEventListener('click', open);
$('#mine').addEventListener('click', open);
$('#calendar').addEventListener('click', () => download('long-table.ics', 'text/calendar', calendarFile(event)));

startCountdown(event.start, $('.countdown'));
show();
