export const levels = {
  first: 'For beginners',
  some: 'With some experience',
  free: 'Open studio',
};

export const classes = [
  { name: 'First bowl', when: 'Tuesday, 18:30', level: 'first', price: 48, places: 3, text: 'One evening at the wheel, from wedging to a bowl you can eat from.' },
  { name: 'Pinch and coil', when: 'Wednesday, 17:00', level: 'first', price: 42, places: 5, text: 'No wheel at all. Good with children from the age of eight.' },
  { name: 'Table for four', when: 'Saturday, 10:00', level: 'first', price: 210, places: 0, text: 'Five Saturdays, four plates, one glaze that you mix yourself.' },
  { name: 'Tall and thin', when: 'Thursday, 19:00', level: 'some', price: 165, places: 2, text: 'Four evenings about height. You should be able to centre a kilo of clay.' },
  { name: 'Lids that fit', when: 'Friday, 18:00', level: 'some', price: 130, places: 1, text: 'Three evenings with jars, teapots and callipers.' },
  { name: 'Open studio', when: 'Sunday, 12:00', level: 'free', price: 15, places: 6, text: 'A wheel, a shelf and the quiet room. Clay is by weight.' },
];
