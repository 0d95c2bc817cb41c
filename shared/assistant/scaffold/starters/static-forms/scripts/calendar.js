const stamp = (date) => date.toISOString().replace(/[-:]|\.\d{3}/g, '');
const escape = (text) => text.replace(/[,;\\]/g, '\\$&');

export function calendarFile({ title, place, start, end }) {
  return [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//The Long Table//EN',
    'BEGIN:VEVENT',
    `UID:${stamp(start)}@long-table.example`,
    `DTSTAMP:${stamp(new Date())}`,
    `DTSTART:${stamp(start)}`,
    `DTEND:${stamp(end)}`,
    `SUMMARY:${escape(title)}`,
    `LOCATION:${escape(place)}`,
    'END:VEVENT',
    'END:VCALENDAR',
  ].join('\r\n');
}

export function download(name, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
